"""Arrays in files: .npz archives, and arrays that are decoded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unknot.data.files.stored_arrays import decoded_array, open_npz, read_npz, write_npz_array
from unknot.errors import DataError, DiskError

ROWS = np.arange(60, dtype=np.uint8).reshape(20, 3)


def chunks() -> Iterator[np.ndarray]:
    yield ROWS[:15]
    yield ROWS[15:]


def test_pieces_are_joined_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    made = decoded_array(path, (20, 3), chunks)
    np.testing.assert_array_equal(made, ROWS)
    again = decoded_array(path, (20, 3), lambda: pytest.fail("decoded a second time"))
    np.testing.assert_array_equal(again, ROWS)
    np.testing.assert_array_equal(np.load(path), ROWS)  # an ordinary .npy file


def test_another_shape_or_damage_is_decoded_anew(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, ROWS[:5])
    np.testing.assert_array_equal(decoded_array(path, (20, 3), chunks), ROWS)
    path.write_bytes(b"nonsense")
    np.testing.assert_array_equal(decoded_array(path, (20, 3), chunks), ROWS)


def test_too_few_rows_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Decoding rows\.npy gave 20 items, expected 21"):
        decoded_array(tmp_path / "rows.npy", (21, 3), chunks)
    assert not (tmp_path / "rows.npy").exists()


def test_a_full_disk_leaves_nothing(small_disk: Path) -> None:
    with pytest.raises(DiskError, match=r"Could not write .*rows\.npy: the disk is full"):
        decoded_array(small_disk / "rows.npy", (20, 100_000), lambda: [np.zeros((20, 100_000), np.uint8)])
    assert not list(small_disk.glob("*.npy"))


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
