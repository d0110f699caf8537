"""Pictures of any size are read at one size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unknot.data.from_arrays import from_arrays
from unknot.data.readers.picture_size import PictureSize, choose_size, resize
from unknot.data.readers.read_options import ReadOptions
from unknot.data.readers.resized import resized_pictures
from unknot.data.readers.user_files import read_user_data
from unknot.data.stored_items import StoredItems
from unknot.errors import DataError
from unknot.workflow.data_summary import describe_data


def test_sizes_are_chosen_as_documented() -> None:
    assert choose_size([(64, 50)] * 3) == PictureSize(64, 50)
    assert choose_size([(65, 65)] * 3) == PictureSize(32, 32, "65x65")
    assert choose_size([(20, 10), (20, 10), (40, 40)]) == PictureSize(20, 10, "10x20 to 40x40")
    assert choose_size([(300, 3000)] * 2) == PictureSize(8, 32, "3000x300")
    assert choose_size([(65, 65)], 48) == PictureSize(48, 48, "65x65")
    assert choose_size([(65, 65)], [20, 30]) == PictureSize(20, 30, "65x65")
    assert choose_size([(65, 65)], "original") == PictureSize(65, 65)
    for wrong in (0, True, "large", [3], [1, 2, 3]):
        with pytest.raises(DataError, match="size is the longest side of pictures in pixels"):
            choose_size([(65, 65)], wrong)


def test_averages_keep_the_mean_and_flat_pictures_stay_flat() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (96, 64, 3), dtype=np.uint8)
    small = resize(picture, 12, 8)
    assert small.shape == (12, 8, 3)
    assert small.dtype == np.uint8
    assert abs(small.mean() - picture.mean()) < 2
    floats = resize((picture / 255).astype(np.float32), 12, 8)
    np.testing.assert_allclose(floats * 255, small, atol=1)
    assert (resize(np.full((9, 7), 200, np.uint8), 32, 32) == 200).all()


def test_a_folder_of_different_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, size in {"a": (200, 100), "b": (100, 50), "c": (400, 200)}.items():
        Image.new("RGB", size, (250, 0, 0)).save(folder / f"{name}.png")
    (folder / "labels.csv").write_text("picture,kind\nb,cat\na,dog\nc,cat\n")
    data = read_user_data(folder)
    assert data.x.shape == (3, 3, 16, 32)
    assert data.factors["kind"].values.tolist() == [1, 0, 0]
    assert (
        "32x16, color, resized from 100x50 to 400x200 (size chooses another size)." in describe_data(data)[0]
    )
    stored = read_user_data(folder, mapped=True)
    assert isinstance(stored.x, StoredItems)
    assert torch.equal(stored.x[:], data.x[:])
    assert read_user_data(folder, like=data).x.shape == data.x.shape
    assert read_user_data(folder, size=64).x.shape == (3, 3, 32, 64)


def test_photographs_are_turned_upright(tmp_path: Path) -> None:
    image = Image.fromarray(
        np.tile(np.linspace(0, 255, 48, dtype=np.uint8), (16, 1))
    )  # 48 wide, bright on the right
    tags = Image.Exif()
    tags[0x0112] = 6  # to be turned clockwise: bright at the bottom
    image.save(tmp_path / "a.jpg", exif=tags, quality=95)
    data = read_user_data(tmp_path)
    assert data.x.shape == (1, 1, 48, 16)
    assert int(data.x[0][0, -1, 8]) > 240


def test_large_arrays() -> None:
    images = np.random.default_rng(0).integers(0, 256, (5, 3, 80, 100), dtype=np.uint8)
    data = resized_pictures(from_arrays(images), ReadOptions())
    assert data.x.shape == (5, 3, 26, 32)
    assert data.resized_from == "100x80"
    assert resized_pictures(from_arrays(images), ReadOptions(size="original")).x.shape == images.shape
    again = resized_pictures(from_arrays(images[:2, :, :40]), ReadOptions(like=data))
    assert again.x.shape == (2, 3, 26, 32)
    numbers = from_arrays(np.random.default_rng(0).normal(size=(5, 3, 80, 80)).astype(np.float32))
    assert resized_pictures(numbers, ReadOptions()) is numbers
