"""Arrays of .npz files that stay on the disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.data.readers.npz import array_bytes, mapped_array
from unknot.data.readers.user_files import read_user_data
from unknot.errors import DataError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", ["u1", ">f4", "<i8"])
def test_mapped_where_it_lies_or_unpacked_once(save, dtype: str, tmp_path: Path) -> None:
    array = np.arange(600).reshape(100, 3, 2).astype(dtype)
    save(tmp_path / "a.npz", y=np.arange(100), x=array)
    for _ in range(2):
        found = mapped_array(tmp_path / "a.npz", "x")
        assert isinstance(found, np.memmap)
        np.testing.assert_array_equal(found, array)
    assert array_bytes(tmp_path / "a.npz", "x") >= array.nbytes
    assert array_bytes(tmp_path / "a.npz", "z") == 0
    assert len(list((tmp_path / "cache").rglob("*.npy"))) == (save is np.savez_compressed)


def test_columns_one_behind_the_other(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    np.savez(tmp_path / "a.npz", x=array)
    np.testing.assert_array_equal(mapped_array(tmp_path / "a.npz", "x"), array)
    np.savez_compressed(tmp_path / "a.npz", x=array)
    with pytest.raises(DataError, match="Fortran order"):
        read_user_data(tmp_path / "a.npz", mapped=True)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damage_is_found(save, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save(path, x=np.zeros((1000, 8), dtype=np.float32))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.npz cannot be read as an \.npz file"):
        read_user_data(path, mapped=True)


def test_items_for_training_and_for_testing(tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    np.savez(tmp_path / "a.npz", x=x, y=y, x_test=x[:4], y_test=y[:4])
    memory, disk = (read_user_data(tmp_path / "a.npz", mapped=mapped) for mapped in (False, True))
    for split in ("train", "test"):
        assert memory.split(split).fingerprint() == disk.split(split).fingerprint()
    np.savez(tmp_path / "a.npz", x=x, x_test=x[:4].astype(np.float32))
    with pytest.raises(DataError, match="save both in one type"):
        read_user_data(tmp_path / "a.npz", mapped=True)
