"""Both forms of SVHN, small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from tests.data.found_files import found
from unknot.data.sets import svhn
from unknot.errors import DataError


def test_matlab_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    train = rng.integers(0, 256, (5, 3, 32, 32), dtype=np.uint8)
    for name, images, labels in (("train", train, [1, 10, 3, 9, 10]), ("test", train[:2], [10, 5])):
        stored = images.transpose(2, 3, 1, 0)  # (H, W, C, N)
        savemat(tmp_path / f"{name}_32x32.mat", {"X": stored, "y": np.array(labels, dtype=np.uint8)[:, None]})
    dataset = svhn.build(found(svhn.ENTRY, "MATLAB", tmp_path))
    assert dataset.name == "svhn"
    np.testing.assert_array_equal(dataset.split("train").x.numpy(), train)
    assert dataset.factor("digit").values.tolist() == [1, 0, 3, 9, 0, 0, 5]  # 10 in the files is the digit 0
    assert dataset.split("test").ids.tolist() == [73257, 73258]


def write_sheets(folder: Path) -> np.ndarray:
    """Contact sheets of 2 x 100 and 1 x 100 tiles; returns the train tiles (200, 3, 32, 32)."""
    rng = np.random.default_rng(0)
    tiles = rng.integers(0, 256, (200, 3, 32, 32), dtype=np.uint8)
    for stem, rows in (("train_first20000", 2), ("test_first10000", 1)):
        sheet = np.zeros((rows * 32, 3200, 3), dtype=np.uint8)
        for number in range(rows * 100):
            y, x = divmod(number, 100)
            sheet[y * 32 : y * 32 + 32, x * 32 : x * 32 + 32] = tiles[number].transpose(1, 2, 0)
        Image.fromarray(sheet).save(folder / f"{stem}.png")
        np.savez(folder / f"{stem}_labels.npz", labels=np.arange(rows * 100, dtype=np.uint8) % 10)
    return tiles


def test_contact_sheets_are_called_the_subset(tmp_path: Path) -> None:
    tiles = write_sheets(tmp_path)
    dataset = svhn.build(found(svhn.ENTRY, "contact sheets", tmp_path))
    assert dataset.name == "svhn-subset"
    np.testing.assert_array_equal(dataset.split("train").x.numpy(), tiles)
    np.testing.assert_array_equal(dataset.split("test").x.numpy(), tiles[:100])
    assert dataset.factor("digit").values[:12].tolist() == [*range(10), 0, 1]
    assert dataset.ids[200] == 73257


def test_a_broken_matlab_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "train_32x32.mat").write_bytes(b"MATLAB 5.0" + bytes(200))
    with pytest.raises(DataError, match=r"train_32x32\.mat cannot be read as a MATLAB file"):
        svhn.build(found(svhn.ENTRY, "MATLAB", tmp_path))
