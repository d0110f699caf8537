"""Decoded arrays are written once, whole, and mapped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unknot.data.files.decoded_array import decoded_array
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
