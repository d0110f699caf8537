"""The idx reader, and MNIST-shaped data sets made of it."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.data.found_files import found
from unknot.data.sets import fashion_mnist, mnist
from unknot.data.sets.idx import read_idx
from unknot.errors import DataError


def idx_bytes(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_set(folder: Path, suffix: str) -> dict[str, np.ndarray]:
    """Seven train and three test images in the four files."""
    rng = np.random.default_rng(0)
    arrays = {}
    for split, size in (("train", 7), ("t10k", 3)):
        arrays[f"{split}-images-idx3-ubyte"] = rng.integers(0, 256, (size, 28, 28), dtype=np.uint8)
        arrays[f"{split}-labels-idx1-ubyte"] = rng.integers(0, 10, size, dtype=np.uint8)
    for name, array in arrays.items():
        content = idx_bytes(array)
        (folder / (name + suffix)).write_bytes(gzip.compress(content) if suffix else content)
    return arrays


@pytest.mark.parametrize(("form", "suffix"), [("idx, gzip", ".gz"), ("idx", "")])
def test_both_forms_give_the_same_data_set(tmp_path: Path, form: str, suffix: str) -> None:
    arrays = write_set(tmp_path, suffix)
    dataset = mnist.build(found(mnist.ENTRY, form, tmp_path))
    assert dataset.x.shape == (10, 1, 28, 28)
    train, test = dataset.split("train"), dataset.split("test")
    np.testing.assert_array_equal(train.x[:, 0].numpy(), arrays["train-images-idx3-ubyte"])
    np.testing.assert_array_equal(test.factor("digit").values.numpy(), arrays["t10k-labels-idx1-ubyte"])
    assert test.ids.tolist() == [7, 8, 9]


def test_fashion_has_its_own_factor(tmp_path: Path) -> None:
    write_set(tmp_path, ".gz")
    dataset = fashion_mnist.build(found(fashion_mnist.ENTRY, "idx, gzip", tmp_path))
    assert dataset.factor("garment").classes == fashion_mnist.CLASSES


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x00\x08", b"PK\x03\x04 a zip", idx_bytes(np.zeros((3, 4)))[:-1], idx_bytes(np.zeros(3))[:6]],
)
def test_a_file_that_is_not_idx_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x-idx").write_bytes(content)
    with pytest.raises(DataError, match=r"x-idx cannot be read as an idx file \(.+\): replace it"):
        read_idx(tmp_path / "x-idx")


def test_a_cut_gzip_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(idx_bytes(np.zeros((30, 40))))[:-9])
    with pytest.raises(DataError, match=r"x\.gz cannot be read as an idx file"):
        read_idx(tmp_path / "x.gz")
