"""The idx reader: arrays come back, anything else is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.data.sets.idx_files import idx_bytes
from unknot.data.sets.idx import read_idx
from unknot.errors import DataError


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
