"""Turn whatever a broken file makes a reader raise into one sentence that names the file."""

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
    """While ``path`` is read as ``what`` ("an idx file", "a MATLAB file"): name it if it turns out broken."""
    try:
        yield
    except READER_ERRORS as error:
        reason = " ".join(str(error).split()).strip("'\". ") or type(error).__name__
        if "allow_pickle" in reason:  # numpy's advice, to read it none the less, is none of ours
            reason = "it holds Python objects, or is a file of another kind"
        raise DataError(
            f"The data file {path} cannot be read as {what} ({reason}): replace it by a good copy."
        ) from error
