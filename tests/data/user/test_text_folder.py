"""Folders of texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.user.text_files import write_folder
from unknot.data.user.text_folder import has_texts, read_text_folder, text_names
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError


def test_sub_folders_are_labels(tmp_path: Path) -> None:
    write_folder(tmp_path)
    data = read_text_folder(tmp_path, Wanted())
    assert text_names(tmp_path) == ["2.txt", "cars/1.txt", "cars/4.txt", "space/0.txt", "space/3.txt"]
    assert data.factor("label").values.tolist() == [-1, 0, 0, 1, 1]
    assert data.texts[0] == "the rocket engine"


def test_train_and_test_are_splits_and_the_words_those_of_train(tmp_path: Path) -> None:
    write_folder(tmp_path, "train")
    (tmp_path / "test" / "space").mkdir(parents=True)
    (tmp_path / "test" / "space" / "new.txt").write_text("moon crater")
    data = read_text_folder(tmp_path, Wanted(["topic"]))
    assert {name: len(rows) for name, rows in data.splits.items()} == {"train": 5, "test": 1}
    assert "crater" not in data.columns
    assert data.split("test").factor("topic").values.tolist() == [1]


def test_any_bytes_are_read(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_bytes("caf\xe9 cr\xe8me".encode("latin-1"))
    (tmp_path / "two.txt").write_bytes("caf\xe9 cr\xe8me".encode())
    data = read_text_folder(tmp_path, Wanted())
    assert data.texts[0] == data.texts[1] == "caf\xe9 cr\xe8me"


def test_a_folder_without_texts(tmp_path: Path) -> None:
    assert not has_texts(tmp_path)
    with pytest.raises(DataError, match="holds no texts"):
        text_names(tmp_path)
