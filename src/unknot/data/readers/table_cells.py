"""A whole table as one array of numbers, and what they stand for: in memory, or mapped from the cache.

Tables that are too large for memory are decoded once into the cache. The cache entry depends on the content of the
file and on the columns of which every word is kept. It appears whole or not at all; a damaged one is made again.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from unknot.data.files.broken_file import refuse_special_file
from unknot.data.files.catalogue import digest
from unknot.data.files.directories import advising_cache, cache_directory
from unknot.data.readers.table_column import TableColumn
from unknot.data.readers.table_files import TableSource
from unknot.errors import DataError
from unknot.files import atomic_folder, lock

_BLOCK = 1 << 21  # numbers that are processed together
_NUMBERS, _COLUMNS = "cells.bin", "columns.json"


@dataclass(frozen=True)
class TableCells:
    """The cells of a table.

    Attributes
    ----------
    columns : mapping from name to TableColumn
        What the numbers stand for.
    numbers : ndarray of float64, shape (N, C)
        In memory or mapped from a file.
    """

    columns: Mapping[str, TableColumn]
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    def position(self, name: str) -> int:
        """Return the index of a column in ``numbers``."""
        return list(self.columns).index(name)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows and their numbers."""
        step = max(1, _BLOCK // self.numbers.shape[1])
        for start in range(0, len(self), step):
            rows = slice(start, min(start + step, len(self)))
            yield rows, self.numbers[rows]

    def counts(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Count each word of each column among the rows of a bool mask; in numeric columns, the numbers."""
        counts = {name: np.zeros(max(1, len(c.words)), dtype=np.int64) for name, c in self.columns.items()}
        everywhere = bool(rows.all())
        for part, numbers in self.blocks():
            chosen = numbers if everywhere else numbers[rows[part]]
            for i, (name, column) in enumerate(self.columns.items()):
                is_present = ~np.isnan(chosen[:, i])
                if column.numeric:
                    counts[name] += np.count_nonzero(is_present)
                elif column.words:
                    codes = chosen[is_present, i].astype(np.int64)
                    counts[name] += np.bincount(codes, minlength=len(column.words))
        return counts

    def words(self, name: str) -> list[str | None]:
        """Return the words of a column that is not numeric, None where missing."""
        words = [*self.columns[name].words, None]
        codes = np.nan_to_num(self.numbers[:, self.position(name)], nan=-1).astype(np.int64)
        return [words[code] for code in codes.tolist()]


class TableRows:
    """Some columns of a table as float32 rows, indexed like an array; NaN where missing.

    Parameters
    ----------
    cells : ndarray of shape (N, C)
        The numbers of the whole table.
    positions : sequence of int
        The columns.
    lookups : sequence of ndarray or None
        For each column the value of each of its words; None where cells are the values themselves.
    odd_rows : tuple of int
        Rows with a cell that could not be read.
    """

    dtype = np.dtype(np.float32)

    def __init__(
        self,
        cells: np.ndarray,
        positions: Sequence[int],
        lookups: Sequence[np.ndarray | None],
        odd_rows: tuple[int, ...] = (),
    ) -> None:
        self.cells, self.positions, self.lookups = cells, list(positions), list(lookups)
        self.odd_rows = odd_rows

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.cells), len(self.positions))

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        values = np.asarray(self.cells[rows][:, self.positions])  # a copy, since positions is a list
        for i, lookup in enumerate(self.lookups):
            if lookup is not None:
                present = ~np.isnan(values[:, i])
                values[present, i] = lookup[values[present, i].astype(np.int64)]
        with np.errstate(over="ignore"):
            return values.astype(np.float32)

    def array(self) -> np.ndarray:
        """Return all rows, made in parts so that memory holds little more than the result."""
        values = np.empty(self.shape, dtype=np.float32)
        step = max(1, _BLOCK // max(1, self.cells.shape[1]))
        for start in range(0, len(self), step):
            values[start : start + step] = self[start : start + step]
        return values


def read_cells(source: TableSource, keep: Collection[str] = ()) -> TableCells:
    """Read a table into memory; of the columns ``keep`` every word is kept."""
    stream = io.BytesIO()
    columns = _write_cells(stream, source, keep)
    return TableCells(columns, np.frombuffer(stream.getbuffer(), dtype=np.float64).reshape(-1, len(columns)))


def stored_cells(
    path: Path, open_source: Callable[[], TableSource], keep: Collection[str] = ()
) -> TableCells:
    """Read a table file as :func:`read_cells` does, with its numbers in a file of the cache."""
    refuse_special_file(path)
    try:
        content = digest(path, "sha256")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    source = open_source()
    key = hashlib.sha256(json.dumps([content, source.names, sorted(keep)]).encode("utf-8", "surrogatepass"))
    target = cache_directory() / "decoded" / f"{key.hexdigest()[:32]}-table"
    if (cells := _mapped(target)) is not None:
        return cells
    with advising_cache(), lock(target.with_name(f".{target.name}.lock")):
        if _mapped(target) is None:
            _decode(source, keep, target)
    if (cells := _mapped(target)) is None:
        raise DataError(f"{target} was written but cannot be mapped: check the disk, then remove it.")
    return cells


def _decode(source: TableSource, keep: Collection[str], target: Path) -> None:
    with atomic_folder(target, replace=True) as folder:
        with (folder / _NUMBERS).open("w+b") as stream:
            columns = _write_cells(stream, source, keep)
            count = stream.tell() // (8 * len(columns))
        content = {"rows": count, "columns": {name: column.to_dict() for name, column in columns.items()}}
        (folder / _COLUMNS).write_bytes(json.dumps(content).encode("utf-8", "surrogatepass"))


def _mapped(folder: Path) -> TableCells | None:
    """Return the table in the cache; None if it is not there or not whole."""
    try:
        content = json.loads((folder / _COLUMNS).read_bytes().decode("utf-8", "surrogatepass"))
        columns = {name: TableColumn.from_dict(column) for name, column in content["columns"].items()}
        shape = (int(content["rows"]), len(columns))
        if (folder / _NUMBERS).stat().st_size != shape[0] * shape[1] * 8:
            return None
        return TableCells(columns, np.memmap(folder / _NUMBERS, np.float64, "r", shape=shape))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_cells(stream: IO[bytes], source: TableSource, keep: Collection[str]) -> dict[str, TableColumn]:
    """Write the cells of a table as rows of float64; return its columns."""
    columns = {name: TableColumn(source.decimal_comma, name in keep) for name in source.names}
    done = 0
    for block in source.blocks():
        numbers = np.empty((len(block[0]), len(columns)))
        for i, (column, values) in enumerate(zip(columns.values(), block, strict=True)):
            numbers[:, i] = column.read(values, done)
        for i, column in enumerate(columns.values()):
            if (table := column.switched()) is not None:
                _replace(numbers, i, table)
                _replace_written(stream, done, len(columns), i, table)
        stream.write(numbers.data)
        done += len(numbers)
    return columns


def _replace(numbers: np.ndarray, i: int, table: np.ndarray) -> None:
    """Replace the numbers of words by the numbers that the words are."""
    present = ~np.isnan(numbers[:, i])
    numbers[present, i] = table[numbers[present, i].astype(np.int64)]


def _replace_written(stream: IO[bytes], done: int, width: int, i: int, table: np.ndarray) -> None:
    """Do the same in the rows that are written already, and return to the end of the stream."""
    start = stream.tell() - done * width * 8
    step = max(1, _BLOCK // width)
    for first in range(0, done, step):
        count = min(step, done - first)
        stream.seek(start + first * width * 8)
        numbers = np.frombuffer(bytearray(stream.read(count * width * 8))).reshape(count, width)
        _replace(numbers, i, table)
        stream.seek(start + first * width * 8)
        stream.write(numbers.data)
    stream.seek(0, io.SEEK_END)
