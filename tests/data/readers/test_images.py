"""Folders of images, in memory and in the cache."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unknot.data.readers import images
from unknot.data.readers.images import image_names, read_image, read_images
from unknot.data.readers.read_options import ReadOptions
from unknot.data.readers.user_files import read_user_data
from unknot.data.stored_items import StoredItems
from unknot.errors import DataError


def write_random(folder: Path, count: int, colored: tuple[int, ...] = ()) -> list[Path]:
    draw = np.random.default_rng(0)
    for i in range(count):
        pixels = draw.integers(0, 256, (4, 5, 3) if i in colored else (4, 5), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i:03d}.png")
    return sorted(folder.glob("*.png"))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(("colored", "colors"), [((), 0), ((), 3), ((69,), 0), ((0,), 0)])
def test_the_cache_holds_what_memory_would(
    colored: tuple[int, ...], colors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_random(tmp_path, 70, colored)
    memory = read_images(paths, colors, ReadOptions(mapped=False))
    disk = read_images(paths, colors, ReadOptions(mapped=True))
    assert isinstance(disk, StoredItems)
    assert isinstance(memory, np.ndarray)
    np.testing.assert_array_equal(disk[:], memory)
    monkeypatch.setattr(images, "_decoded", lambda *_: 1 / 0)  # the second time nothing is decoded
    np.testing.assert_array_equal(read_images(paths, colors, ReadOptions(mapped=True))[:], memory)  # type: ignore[union-attr]


def test_the_cache_goes_by_content(tmp_path: Path) -> None:
    paths = write_random(tmp_path, 3)
    before = read_images(paths, 0, ReadOptions(mapped=True))
    Image.fromarray(np.zeros((4, 5), dtype=np.uint8)).save(paths[1])
    after = read_images(paths, 0, ReadOptions(mapped=True))
    assert before[1].any()  # type: ignore[union-attr]
    assert not after[1].any()  # type: ignore[union-attr]


def test_a_wrong_image_leaves_no_cache(tmp_path: Path) -> None:
    paths = write_random(tmp_path, 3)
    whole = paths[2].read_bytes()
    paths[2].write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="cannot be read as an image"):
        read_images(paths, 0, ReadOptions(mapped=True))
    assert not list((tmp_path / "cache").rglob("*.npy"))


def test_grey_and_colored(tmp_path: Path) -> None:
    Image.fromarray(np.full((2, 3), 7, dtype=np.uint8)).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").shape == (2, 3, 3)
    assert (read_image(tmp_path / "a.png") == 7).all()


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
        ("nobody,kind\nann,cat\n", "needs a column with the files' names, for example 'file'"),
        ("file,kind\nnone.png,cat\n", "names none.png, which is not in the folder"),
        ("file,kind\na.png,cat\na.png,dog\n", "names a file twice"),
    ],
)
def test_tables_that_do_not_fit(table: str, message: str, folder: Path) -> None:
    (folder / "labels.csv").write_text(table)
    with pytest.raises(DataError, match=message):
        read_user_data(folder)


def test_images_that_do_not_fit(folder: Path) -> None:
    write(folder / "wide.png", 1, size=(9, 6))
    with pytest.raises(
        DataError, match=r"one size for a described model, but there are 4x6 and 9x6; size: 64"
    ):
        read_user_data(folder, size="original")
    (folder / "wide.png").write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"wide\.png cannot be read as an image"):
        read_user_data(folder)


def test_images_of_more_than_eight_bits_are_refused_not_cut_off(folder: Path) -> None:
    Image.fromarray(np.full((6, 4), 40_000, dtype=np.uint16)).save(folder / "a.png")
    with pytest.raises(DataError, match=r"a.png has more than 8 bits per color"):
        read_user_data(folder)
    (folder / "a.png").unlink()
    (folder / "labels.csv").unlink()
    Image.fromarray(np.full((6, 4), 0.5, dtype=np.float32)).save(folder / "a.tiff")
    with pytest.raises(DataError, match=r"a.tiff has more than 8 bits per color"):
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
