"""Arrays of an .npz by name, without pickle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.data.files.npz_arrays import open_npz, read_npz, write_npz_array
from unknot.errors import DataError


def test_the_named_arrays_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(3), y=np.ones(2), z=np.zeros(1))
    arrays = read_npz(tmp_path / "a.npz", "x", "y")
    assert {name: array.tolist() for name, array in arrays.items()} == {"x": [0, 1, 2], "y": [1.0, 1.0]}
    with open_npz(tmp_path / "a.npz") as archive:
        assert archive.files == ["x", "y", "z"]


def test_what_is_not_such_a_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "less.npz", x=np.arange(3))
    np.save(tmp_path / "one.npy", np.arange(3))
    np.savez(tmp_path / "objects.npz", x=np.array([{}], dtype=object))
    for name, reason in (("less.npz", "y"), ("one.npy", "single array"), ("objects.npz", "Python objects")):
        with pytest.raises(DataError, match=rf"{name} cannot be read as an \.npz with x, y \(.*{reason}"):
            read_npz(tmp_path / name, "x", "y")


def test_an_array_is_written_in_parts(tmp_path: Path) -> None:
    array = np.arange(30, dtype=np.float32).reshape(10, 3)
    write_npz_array(tmp_path / "a.npz", "x", 10, (array[i : i + 4] for i in range(0, 10, 4)))
    np.testing.assert_array_equal(read_npz(tmp_path / "a.npz", "x")["x"], array)
