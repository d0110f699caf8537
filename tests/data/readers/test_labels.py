"""Labels of tables and folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.data.readers.cells import cells_of
from unknot.data.readers.labels import folder_labels, folder_splits, label_values, read_labels
from unknot.data.readers.read_options import ReadOptions
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


NAMES = ["cars/a.txt", "cars/b.txt", "space/c.txt", "d.txt"]


def test_sub_folders_or_a_table(tmp_path: Path) -> None:
    assert folder_labels(tmp_path, NAMES, ReadOptions(), {}) == {"label": ["cars", "cars", "space", None]}
    assert folder_labels(tmp_path, NAMES, ReadOptions(["topic"]), {}) == {
        "topic": ["cars", "cars", "space", None]
    }
    assert folder_labels(tmp_path, NAMES[:2], ReadOptions(), {}) == {}  # one folder tells nothing apart
    (tmp_path / "labels.csv").write_text("file,mood\nd.txt,good\ncars/a.txt,bad\n")
    assert folder_labels(tmp_path, NAMES, ReadOptions(), {}) == {"mood": ["bad", None, None, "good"]}
    (tmp_path / "labels.csv").write_text("file,mood\nz.txt,good\n")
    with pytest.raises(DataError, match=r"names z\.txt, which is not in the folder"):
        folder_labels(tmp_path, NAMES, ReadOptions(), {})


def test_train_and_test_are_splits() -> None:
    assert folder_splits(["test/a.txt", "train/cars/b.txt", "train/c.txt"]) == {"test": [0], "train": [1, 2]}
    assert folder_splits(NAMES) is None
