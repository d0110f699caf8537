"""NumPy archives (.npz) as data sets; large arrays are mapped where they lie, or unpacked once into the cache."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.files.broken_file import READER_ERRORS, refuse_special_file
from unknot.data.files.catalogue import digest
from unknot.data.files.directories import cache_directory
from unknot.data.files.stored_arrays import decoded_array, open_npz
from unknot.data.from_arrays import from_arrays
from unknot.data.readers.labels import factor_names
from unknot.data.readers.read_options import ReadOptions
from unknot.data.stored_items import StoredItems
from unknot.errors import DataError

_BLOCK = 1 << 24
_LOCAL_HEADER = 30  # bytes of a zip member's header, before its name and its extra field
_TYPES = {
    "U": "words",
    "S": "words",
    "i": "whole numbers",
    "u": "whole numbers",
    "f": "numbers",
    "b": "bools",
}


def read_npz(path: Path, options: ReadOptions) -> Dataset:
    """Read the arrays of a file.

    Parameters
    ----------
    path : Path
        A file with ``x`` (N, ...) and one array of N labels for each factor; ``x_test`` and ``NAME_test`` are the test
        split.
    options : ReadOptions
        Which arrays are factors, and how they are read.

    Returns
    -------
    Dataset
    """
    arrays = _load_arrays(path, options)
    if "x" not in arrays:
        raise DataError(
            f"{path}: needs an array 'x' with one row per item; it has {', '.join(arrays) or 'none'}."
        )
    available = [n for n in arrays if n != "x" and not n.endswith("_test")]
    names = factor_names(path, available, options.factors, options.like)
    _check_items(path, arrays["x"])
    x, labels = arrays["x"], {name: arrays[name] for name in names}
    parts = [x]
    splits: Mapping[str, Any] = {}
    if "x_test" in arrays:
        tested = arrays["x_test"]
        _check_items(path, tested)
        if (tested.dtype == np.uint8) != (x.dtype == np.uint8):
            raise DataError(
                f"{path}: x holds {x.dtype} and x_test {tested.dtype}; uint8 are pixels from 0 to 255, "
                "floats are not, so both must be of one type."
            )
        if tested.shape[1:] != x.shape[1:]:
            raise DataError(f"{path}: x has items of shape {x.shape[1:]}, but x_test of {tested.shape[1:]}.")
        for name in names:
            if f"{name}_test" not in arrays:
                raise DataError(f"{path}: there is x_test, but no {name}_test with its labels.")
            labels[name] = _both(path, name, labels[name], arrays[f"{name}_test"])
        splits = {"train": np.arange(len(x)), "test": np.arange(len(x), len(x) + len(tested))}
        parts.append(tested)
    splits = splits or options.split(len(x))
    kinds, classes = options.kinds_of(labels), options.classes_of(labels)
    items = _joined(path, parts)
    return from_arrays(items, labels, kinds=kinds, classes=classes, splits=splits, name=path.stem)


def array_bytes(path: Path, name: str) -> int:
    """Return the size of an unpacked array; 0 if it is not there."""
    with zipfile.ZipFile(path) as archive:
        return archive.getinfo(f"{name}.npy").file_size if f"{name}.npy" in archive.namelist() else 0


def mapped_array(path: Path, name: str) -> np.ndarray:
    """Return an array that is read when it is indexed; every byte has been compared with the file's checksum."""
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
    """Return the array in the cache, under the digest of the whole file."""
    if fortran:
        raise ValueError("it is in Fortran order and compressed; save it in C order")

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
    """Return where a member's bytes begin: after its header, whose name and extra field vary in length."""
    with path.open("rb") as stream:
        stream.seek(member.header_offset)
        header = stream.read(_LOCAL_HEADER)
    name, extra = (int.from_bytes(header[i : i + 2], "little") for i in (26, 28))
    return member.header_offset + _LOCAL_HEADER + name + extra


def _joined(path: Path, parts: Sequence[np.ndarray]) -> np.ndarray | StoredItems:
    """Return the items for training, followed by those for testing."""
    if not isinstance(parts[0], np.memmap):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    if len({part.dtype for part in parts}) > 1:
        raise DataError(
            f"{path}: x holds {parts[0].dtype} and x_test {parts[1].dtype}; save both in one type."
        )
    return StoredItems(parts, where=str(path))


def _both(path: Path, name: str, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the labels for training, followed by those for testing, which must be of the same type.

    Joined, numbers and whole numbers, or words and numbers, would be labels of another kind.
    """
    types = [_TYPES.get(array.dtype.kind, array.dtype.kind) for array in (train, test)]
    fits = types[0] == types[1] or (types[0] == "numbers" and types[1] in ("whole numbers", "bools"))
    if not fits or train.shape[1:] != test.shape[1:] or not train.ndim:
        raise DataError(
            f"{path}: {name} holds {train.dtype} of shape {train.shape} and {name}_test {test.dtype} of shape "
            f"{test.shape}; both must be labels of one kind."
        )
    return np.concatenate([train, test])


def _check_items(path: Path, x: np.ndarray) -> None:
    if x.ndim == 0 or len(x) == 0:
        raise DataError(f"{path} is empty: its x has no rows.")
    if x.dtype.kind not in "buif":
        raise DataError(f"{path}: x holds {x.dtype} values, expected numbers.")


def _load_arrays(path: Path, options: ReadOptions) -> dict[str, np.ndarray]:
    """Return the arrays by name; large items stay in their file."""
    refuse_special_file(path)
    try:
        with open_npz(path) as content:
            items = [name for name in ("x", "x_test") if name in content.files]
            is_stored = options.should_memmap(sum(array_bytes(path, name) for name in items))
            kept = items if is_stored else []
            return {
                name: mapped_array(path, name) if name in kept else content[name] for name in content.files
            }
    except FileNotFoundError:
        raise DataError(f"there is no file {path}.") from None
    except MemoryError:
        raise DataError(f"{path} declares arrays larger than the memory; is it complete?") from None
    except READER_ERRORS as error:
        reason = "it holds Python objects, not arrays" if "allow_pickle" in str(error) else str(error)
        raise DataError(f"{path} cannot be read as an .npz file: {' '.join(reason.split())}.") from None
