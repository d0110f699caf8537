"""Is this file the published one? Size first (cheap), then the digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

from unknot.data.files.catalogue import DataFile
from unknot.errors import DataError


def digest(path: Path, algorithm: str) -> str:
    """Hex digest of a file, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def fault(path: Path, file: DataFile) -> str | None:
    """What is wrong with the file at ``path``, as part of a sentence; None when it is the published file."""
    try:
        if file.is_folder:
            return None if path.is_dir() else "is not a folder"
        if not path.is_file():
            return "is not a regular file"
        size = path.stat().st_size
        if file.size is not None and size != file.size:
            kind = "is truncated" if size < file.size else "is not the expected file"
            return f"{kind} ({size} bytes, expected {file.size})"
        if file.checksum is not None:
            algorithm, expected = file.checksum.split(":")
            came = digest(path, algorithm)
            if came != expected:
                return f"is corrupt or another file ({algorithm} {came[:12]}..., expected {expected[:12]}...)"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None


def require(path: Path, file: DataFile) -> None:
    """Raise a DataError unless the file at ``path`` is the published one. The file is left as it is."""
    if problem := fault(path, file):
        raise DataError(
            f"The data file {path} {problem}: replace it by a good copy, or move it away so that "
            "the next source is tried."
        )
