"""Messages about files that cannot be read: broken files, and pipes or devices in place of files."""

from __future__ import annotations

import contextlib
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from unknot.errors import DataError

READER_ERRORS = (
    OSError,
    EOFError,
    NotImplementedError,
    ValueError,
    KeyError,
    IndexError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    SyntaxError,
    struct.error,
    OverflowError,
    TypeError,
)


@contextlib.contextmanager
def explain_broken_file(path: Path, what: str) -> Iterator[None]:
    """Turn any error of a reader into a DataError that names the file, which is read as ``what`` ("an idx file")."""
    try:
        yield
    except READER_ERRORS as error:
        reason = " ".join(str(error).split()).strip("'\". ") or type(error).__name__
        if "allow_pickle" in reason:  # numpy advises to allow it, which would be unsafe
            reason = "it holds Python objects, or is a file of another kind"
        raise DataError(
            f"The data file {path} cannot be read as {what} ({reason}): replace it by a good copy."
        ) from error


def refuse_special_file(path: Path) -> None:
    """Refuse folders, pipes and devices, of which the latter two would block; the reader reports missing files."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        raise DataError(f"{path} is {kind}, expected a file.")
