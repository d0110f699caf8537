"""The arrays of an .npz file, read without pickle; and one that is written in parts."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from unknot.data.files.broken_file import explain_broken_file
from unknot.files import atomic_file


def read_npz(path: Path, *names: str) -> dict[str, np.ndarray]:
    """The named arrays; a file without one of them is broken."""
    with explain_broken_file(path, f"an .npz with {', '.join(names)}"), open_npz(path) as archive:
        return {name: archive[name] for name in names}


@contextlib.contextmanager
def open_npz(path: Path) -> Iterator[NpzFile]:
    """The opened file; closed even when it turns out not to be an .npz."""
    with path.open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, NpzFile):
            raise ValueError("it is a single array")
        yield archive


def write_npz_array(path: Path, name: str, length: int, parts: Iterable[np.ndarray]) -> None:
    """An .npz file with one array of so many rows, whole or not at all; its parts are written as they come."""
    with (
        atomic_file(path) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as sink,
    ):
        for i, part in enumerate(parts):
            if i == 0:
                descr = np.lib.format.dtype_to_descr(part.dtype)
                header = {"descr": descr, "fortran_order": False, "shape": (length, *part.shape[1:])}
                np.lib.format.write_array_header_1_0(sink, header)
            sink.write(np.ascontiguousarray(part).data)
