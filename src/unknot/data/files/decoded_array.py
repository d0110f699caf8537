"""Arrays that take long to decode are decoded once, kept in the cache as .npy and memory-mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from unknot.data.files.directories import advising_cache
from unknot.errors import DataError
from unknot.files import atomic_file, lock


def decoded_array(
    path: Path,
    shape: tuple[int, ...],
    chunks: Callable[[], Iterable[np.ndarray]],
    dtype: np.dtype | type = np.uint8,
) -> np.ndarray:
    """The array of ``shape`` at ``path``, made from ``chunks()`` (pieces along the first axis) if need be.

    The array is mapped copy-on-write: torch may have it as a tensor without a copy, the file never changes,
    and pages are read when they are first used. A damaged file is made anew.
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
