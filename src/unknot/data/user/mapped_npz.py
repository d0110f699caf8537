"""An array of an .npz file that stays on the disk: mapped where it lies, or unpacked once into the cache."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from unknot.data.files.checksum import digest
from unknot.data.files.decoded_array import decoded_array
from unknot.data.files.directories import cache_directory

_BLOCK = 1 << 24
_LOCAL_HEADER = 30  # bytes of a zip member's own header, before its name and its extra field


def array_bytes(path: Path, name: str) -> int:
    """How many bytes the array takes, unpacked; 0 if it is not there."""
    with zipfile.ZipFile(path) as archive:
        return archive.getinfo(f"{name}.npy").file_size if f"{name}.npy" in archive.namelist() else 0


def mapped_array(path: Path, name: str) -> np.ndarray:
    """The array ``name``, read when it is indexed. Every byte has been compared with the file's own checksum."""
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(f"{name}.npy")
        with archive.open(member) as stream:
            shape, fortran, dtype = _read_header(stream)
            start = stream.tell()
            if dtype.hasobject:
                raise ValueError("allow_pickle: it holds Python objects")
            if member.compress_type != zipfile.ZIP_STORED:
                return _unpacked(path, name, shape, fortran, dtype)
            while stream.read(_BLOCK):  # the end of a member is where zipfile compares its checksum
                pass
        offset = _data_offset(path, member) + start
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


def _unpacked(path: Path, name: str, shape: tuple[int, ...], fortran: bool, dtype: np.dtype) -> np.ndarray:
    """The array in the cache, under the digest of the whole file."""
    if fortran:
        raise ValueError(
            "its columns lie one behind the other (Fortran order) and are packed; save it in C order"
        )

    def blocks() -> Iterator[np.ndarray]:
        row = int(np.prod(shape[1:])) * dtype.itemsize
        step = max(1, _BLOCK // max(1, row))
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
            _read_header(stream)
            for start in range(0, shape[0], step):
                count = min(step, shape[0] - start)
                yield np.frombuffer(stream.read(count * row), dtype).reshape(count, *shape[1:])
            if stream.read(1):  # also lets zipfile compare the checksum
                raise ValueError("it is longer than it says")

    target = cache_directory() / "decoded" / f"{digest(path, 'sha256')[:32]}-{name}.npy"
    return decoded_array(target, shape, blocks, dtype)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype


def _data_offset(path: Path, member: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin: behind its own header, whose name and extra field have lengths of their own."""
    with path.open("rb") as stream:
        stream.seek(member.header_offset)
        header = stream.read(_LOCAL_HEADER)
    name, extra = (int.from_bytes(header[i : i + 2], "little") for i in (26, 28))
    return member.header_offset + _LOCAL_HEADER + name + extra
