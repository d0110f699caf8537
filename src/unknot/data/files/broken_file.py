"""Turn whatever a broken file makes a reader raise into one sentence that names the file."""

from __future__ import annotations

import contextlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from unknot.errors import DataError

_READER_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
)


@contextlib.contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """While `path` is read as `what` ("an idx file", "a MATLAB file")."""
    try:
        yield
    except _READER_ERRORS as error:
        reason = str(error).strip("'\". ") or type(error).__name__
        raise DataError(
            f"The data file {path} cannot be read as {what} ({reason}): replace it by a good copy."
        ) from error


def read_npz(path: Path, *names: str) -> dict[str, np.ndarray]:
    """The named arrays of an .npz file, read without pickle."""
    with reading(path, f"an .npz with {', '.join(names)}"), open_npz(path) as archive:
        return {name: archive[name] for name in names}


@contextlib.contextmanager
def open_npz(path: Path) -> Iterator[NpzFile]:
    """An .npz file, read without pickle; closed even when it turns out not to be one."""
    with path.open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, NpzFile):
            raise ValueError("it is a single array")
        yield archive
