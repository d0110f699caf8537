"""Folders of images with a table of labels."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unknot.data.user.image_folder import image_names
from unknot.data.user.user_files import read_user_data
from unknot.errors import DataError


def write(path: Path, value: int, size: tuple[int, int] = (4, 6), mode: str = "L") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    color = value if mode == "L" else (value, 0, 255)
    Image.new(mode, size, color).save(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i, name in enumerate(["b.png", "a.png", "sub/c.png"]):
        write(tmp_path / name, 10 * i)
    (tmp_path / "labels.csv").write_text("file,kind,angle\nsub/c.png,cat,3.5\na.png,dog,\n")
    (tmp_path / "notes.txt").write_text("no image")
    return tmp_path


def test_images_come_in_the_order_of_their_names_with_their_own_labels(folder: Path) -> None:
    data = read_user_data(folder)
    assert image_names(folder) == ["a.png", "b.png", "sub/c.png"]
    assert data.x.shape == (3, 1, 6, 4)
    assert data.x[:, 0, 0, 0].tolist() == [10, 0, 20]
    assert data.factors["kind"].values.tolist() == [1, -1, 0]
    np.testing.assert_array_equal(data.factors["angle"].values, [np.nan, np.nan, 3.5])
    assert list(read_user_data(folder, factors=["kind"]).factors) == ["kind"]


def test_one_colored_image_makes_all_colored(folder: Path) -> None:
    write(folder / "z.png", 7, mode="RGB")
    data = read_user_data(folder)
    assert data.x.shape == (4, 3, 6, 4)
    (folder / "z.png").unlink()
    gray = read_user_data(folder, like=data)  # gray images for a model of colored ones
    assert gray.x.shape == (3, 3, 6, 4)
    write(folder / "z.png", 7, mode="RGB")
    with pytest.raises(DataError, match=r"\(3, 6, 4\), but \(1, 6, 4\) is needed"):
        read_user_data(folder, like=read_user_data(folder / "sub"))


def test_a_folder_without_a_table_is_unlabeled(folder: Path) -> None:
    (folder / "labels.csv").unlink()
    assert not read_user_data(folder).factors
    with pytest.raises(DataError, match=r"has no labels\.csv and no sub-folder for each class"):
        read_user_data(folder, factors=["kind"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("image,kind\na.png,cat\n", "needs a column 'file'"),
        ("file,kind\nnone.png,cat\n", "speaks of none.png, which is not in the folder"),
        ("file,kind\na.png,cat\na.png,dog\n", "names a file twice"),
    ],
)
def test_tables_that_do_not_fit(table: str, message: str, folder: Path) -> None:
    (folder / "labels.csv").write_text(table)
    with pytest.raises(DataError, match=message):
        read_user_data(folder)


def test_images_that_do_not_fit(folder: Path) -> None:
    write(folder / "wide.png", 1, size=(9, 6))
    with pytest.raises(DataError, match=r"one size, but a\.png is 4x6 and wide\.png is 9x6"):
        read_user_data(folder)
    (folder / "wide.png").write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"wide\.png cannot be read as an image"):
        read_user_data(folder)


def test_images_of_more_than_eight_bits_are_refused_not_cut_off(folder: Path) -> None:
    Image.fromarray(np.full((6, 4), 40_000, dtype=np.uint16)).save(folder / "a.png")
    with pytest.raises(DataError, match=r"a.png has more than 8 bits a pixel"):
        read_user_data(folder)
    (folder / "a.png").unlink()
    (folder / "labels.csv").unlink()
    Image.fromarray(np.full((6, 4), 0.5, dtype=np.float32)).save(folder / "a.tiff")
    with pytest.raises(DataError, match=r"a.tiff has more than 8 bits a pixel"):
        read_user_data(folder)


def test_images_are_opened_as_what_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20)
    with pytest.raises(DataError, match="declares more than 20 pixels"):
        read_user_data(folder)
    monkeypatch.undo()
    (folder / "a.png").unlink()
    os.mkfifo(folder / "a.png")
    with pytest.raises(DataError, match="a pipe or a device"):
        read_user_data(folder)


def test_class_sub_folders_of_images_are_labels(tmp_path: Path) -> None:
    for i, name in enumerate(["cat/a.png", "cat/b.png", "dog/a.png", "unsorted.png"]):
        write(tmp_path / name, 10 * i)
    data = read_user_data(tmp_path)
    assert data.factors["label"].classes == ("cat", "dog")
    assert data.factors["label"].values.tolist() == [0, 0, 1, -1]
    assert list(read_user_data(tmp_path, factors=["pet"]).factors) == ["pet"]
    again = read_user_data(tmp_path / "dog", like=read_user_data(tmp_path, factors=["pet"]))
    assert not again.factors


def test_train_and_test_sub_folders_are_splits(tmp_path: Path) -> None:
    for i, name in enumerate(["train/cat/a.png", "train/dog/b.png", "test/cat/a.png", "test/dog/c.png"]):
        write(tmp_path / name, 10 * i)
    data = read_user_data(tmp_path)
    assert data.split("test").factors["label"].values.tolist() == [0, 1]
    assert len(data.split("train")) == 2


def test_a_train_folder_alone_is_no_class(tmp_path: Path) -> None:
    for i, name in enumerate(["train/cat/a.png", "train/dog/b.png"]):
        write(tmp_path / name, 10 * i)
    data = read_user_data(tmp_path)
    assert data.factors["label"].classes == ("cat", "dog")
    assert not data.splits
