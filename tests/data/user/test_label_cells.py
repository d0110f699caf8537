"""Labels of a table's column: whole numbers, numbers or words, as the rows that decide tell."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.data.user.label_cells import label_values, read_labels
from unknot.data.user.table_cells import cells_of
from unknot.errors import DataError


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1", None, "3"], [1, None, 3]),
        (["1", "2.5", None], [1.0, 2.5, None]),
        (["1", "b"], ["1", "b"]),
        ([None, None], [None, None]),
    ],
)
def test_labels_are_numbers_if_all_of_them_are(cells: list, labels: list) -> None:
    assert read_labels(cells) == labels


def test_the_rows_that_decide_tell_the_type() -> None:
    assert read_labels(["1", "2", "x"], [True, False, True]) == ["1", "2", "x"]
    assert read_labels(["1", "2.5"], [True, False], numbers=True) == [1.0, 2.5]
    with pytest.raises(
        DataError, match=r"t.csv: a row kept for the test has the label 'x', where .* numbers"
    ):
        read_labels(["1.5", "x"], [True, False], where="t.csv")


def test_a_label_for_every_row() -> None:
    cells = cells_of({"y": ["3", None, "7", "3"], "big": ["9" * 30, "1", "1", None]})
    everywhere = np.ones(4, dtype=bool)
    found = label_values("t", cells, "y", None, everywhere)
    assert found.tolist() == [3, None, 7, 3]
    assert label_values("t", cells, "y", "continuous", everywhere)[0] == 3.0
    assert label_values("t", cells, "big", None, everywhere)[0] == int("9" * 30)
