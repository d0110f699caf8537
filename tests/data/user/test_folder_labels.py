"""Labels of files in folders; with images and texts in test_image_folder.py and test_text_folder.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from unknot.data.user.folder_labels import folder_labels, folder_splits
from unknot.errors import DataError

NAMES = ["cars/a.txt", "cars/b.txt", "space/c.txt", "d.txt"]


def test_sub_folders_or_a_table(tmp_path: Path) -> None:
    assert folder_labels(tmp_path, NAMES, None, None) == {"label": ["cars", "cars", "space", None]}
    assert folder_labels(tmp_path, NAMES, ["topic"], None) == {"topic": ["cars", "cars", "space", None]}
    assert folder_labels(tmp_path, NAMES[:2], None, None) == {}  # one folder tells nothing apart
    (tmp_path / "labels.csv").write_text("file,mood\nd.txt,good\ncars/a.txt,bad\n")
    assert folder_labels(tmp_path, NAMES, None, None) == {"mood": ["bad", None, None, "good"]}
    (tmp_path / "labels.csv").write_text("file,mood\nz.txt,good\n")
    with pytest.raises(DataError, match=r"speaks of z\.txt, which is not in the folder"):
        folder_labels(tmp_path, NAMES, None, None)


def test_train_and_test_are_splits() -> None:
    assert folder_splits(["test/a.txt", "train/cars/b.txt", "train/c.txt"]) == {"test": [0], "train": [1, 2]}
    assert folder_splits(NAMES) is None
