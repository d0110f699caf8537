"""Files are opened as what they are: a pipe or a device under a file's name would wait forever."""

from __future__ import annotations

from pathlib import Path

from unknot.errors import DataError


def refuse_special_file(path: Path) -> None:
    """Refuse what is there and is no plain file; what is not there is for the reader to say."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        raise DataError(f"{path} is {kind}, expected a file.")
