"""One column's cells: words by number, many numbers as they are."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.data.user import cell_column
from unknot.data.user.cell_column import CellColumn


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_column, "MANY", 3)


def test_words_go_by_the_order_in_which_they_come() -> None:
    column = CellColumn()
    np.testing.assert_array_equal(column.read(["b", " a ", "", "b"], 0), [0, 1, np.nan, 0])
    np.testing.assert_array_equal(column.read(["a", "c", "NA"], 4), [1, 2, np.nan])
    assert column.words == ["b", "a", "c"]
    column.read(["d", "e"], 7)
    assert column.switched() is None  # words are kept, however many


def test_many_numbers_are_held_themselves() -> None:
    column = CellColumn()
    column.read(["4", "5", "6", "7"], 0)
    np.testing.assert_array_equal(column.switched(), [4, 5, 6, 7])
    assert column.numeric
    assert column.whole
    np.testing.assert_array_equal(column.read(["8", "?", "x", "2.5"], 4), [8, np.nan, np.nan, 2.5])
    assert column.strays == {6: "x"}
    assert not column.whole


def test_words_are_kept_where_asked() -> None:
    column = CellColumn(keep=True)
    column.read(["4", "5", "6", "7"], 0)
    assert column.switched() is None
