"""Arrays in files: .npz archives without pickle, and arrays that are decoded once into the cache and mapped."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.directories import advising_cache
from unknot.errors import DataError
from unknot.files import atomic_file, lock


def read_npz(path: Path, *names: str) -> dict[str, np.ndarray]:
    """Read the named arrays of an .npz file; a file without one of them is broken."""
    with explain_broken_file(path, f"an .npz with {', '.join(names)}"), open_npz(path) as archive:
        return {name: archive[name] for name in names}


@contextlib.contextmanager
def open_npz(path: Path) -> Iterator[NpzFile]:
    """Open an .npz file, and close it even if it is something else."""
    with path.open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, NpzFile):
            raise ValueError("it is a single array")
        yield archive


def write_npz_array(path: Path, name: str, length: int, parts: Iterable[np.ndarray]) -> None:
    """Write an .npz file with one array of ``length`` rows, part by part; it appears whole or not at all."""
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


def decoded_array(
    path: Path,
    shape: tuple[int, ...],
    chunks: Callable[[], Iterable[np.ndarray]],
    dtype: np.dtype | type = np.uint8,
) -> np.ndarray:
    """Return an array that is decoded once into a file and mapped from there.

    The array is mapped copy-on-write: torch can use it without a copy, and the file never changes. A damaged file is
    made again.

    Parameters
    ----------
    path : Path
        The .npy file.
    shape : tuple of int
        The shape of the array.
    chunks : callable
        Returns its parts along the first axis.
    dtype : numpy.dtype, default=uint8
        The type of the array.

    Returns
    -------
    ndarray
    """
    if (array := _mapped(path, shape, np.dtype(dtype))) is not None:
        return array
    with advising_cache(), lock(path.with_name(f".{path.name}.lock")):
        if _mapped(path, shape, np.dtype(dtype)) is None:
            _write(path, shape, chunks(), np.dtype(dtype))
    array = _mapped(path, shape, np.dtype(dtype))
    if array is None:
        raise DataError(f"{path} was written but cannot be mapped: check the disk, then remove the file.")
    return array


def _mapped(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | None:
    try:
        array = np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return array if array.shape == shape and array.dtype == dtype else None


def _write(path: Path, shape: tuple[int, ...], chunks: Iterable[np.ndarray], dtype: np.dtype) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    rows = 0
    with atomic_file(path) as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for chunk in chunks:
            stream.write(np.ascontiguousarray(chunk, dtype=dtype).data)
            rows += len(chunk)
        if rows != shape[0]:
            raise DataError(f"Decoding {path.name} gave {rows} items, expected {shape[0]}.")
