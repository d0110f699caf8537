"""A file is the published one, or what is wrong with it is said."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from unknot.data.files.catalogue import DataFile
from unknot.data.files.checksum import fault


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_a_good_file_has_no_fault(tmp_path: Path, algorithm: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    good = f"{algorithm}:{hashlib.new(algorithm, b'abc').hexdigest()}"
    assert fault(path, DataFile("x", good, 3)) is None
    path.write_bytes(b"abd")
    assert str(fault(path, DataFile("x", good, 3))).startswith(f"is corrupt or another file ({algorithm} ")


def test_what_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    assert fault(tmp_path / "folder", DataFile("folder")) == "is not a regular file"
    assert fault(tmp_path / "folder", DataFile("folder", is_folder=True)) is None
    assert fault(tmp_path / "file", DataFile("file", is_folder=True)) == "is not a folder"
