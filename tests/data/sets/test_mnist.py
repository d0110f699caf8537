"""MNIST and Fashion-MNIST from small files of their forms, and broken idx files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.data.found_files import found
from tests.data.sets.idx_files import idx_bytes, write_set
from unknot.data.sets import mnist
from unknot.data.sets.mnist import read_idx
from unknot.errors import DataError


@pytest.mark.parametrize(("form", "suffix"), [("idx, gzip", ".gz"), ("idx", "")])
def test_both_forms_give_the_same_data_set(tmp_path: Path, form: str, suffix: str) -> None:
    arrays = write_set(tmp_path, suffix)
    dataset = mnist.build(found(mnist.ENTRY, form, tmp_path))
    assert dataset.x.shape == (10, 1, 28, 28)
    train, test = dataset.split("train"), dataset.split("test")
    np.testing.assert_array_equal(train.x[:, 0].numpy(), arrays["train-images-idx3-ubyte"])
    np.testing.assert_array_equal(test.factor("digit").values.numpy(), arrays["t10k-labels-idx1-ubyte"])
    assert test.ids.tolist() == [7, 8, 9]
    assert dataset.factor("digit").classes == tuple("0123456789")


def test_fashion_has_its_own_factor(tmp_path: Path) -> None:
    arrays = write_set(tmp_path, ".gz")
    dataset = mnist.build_fashion(found(mnist.FASHION_ENTRY, "idx, gzip", tmp_path))
    assert dataset.factor("garment").classes == mnist.GARMENTS
    garments = dataset.split("train").factor("garment").values.numpy()
    np.testing.assert_array_equal(garments, arrays["train-labels-idx1-ubyte"])


def test_an_array_comes_back_compressed_or_not(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    (tmp_path / "x").write_bytes(idx_bytes(array))
    (tmp_path / "x.gz").write_bytes(gzip.compress(idx_bytes(array)))
    np.testing.assert_array_equal(read_idx(tmp_path / "x"), array)
    np.testing.assert_array_equal(read_idx(tmp_path / "x.gz"), array)


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
