"""TableCells: a whole table as one array of numbers, and what they stand for; read once, block by block."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from unknot.data.user.cell_column import CellColumn
from unknot.data.user.csv_rows import CsvRows

_BLOCK = 1 << 21  # numbers that are looked at together


@dataclass(frozen=True)
class TableCells:
    """The cells of a table.

    * ``columns``: for each name what its numbers stand for;
    * ``numbers``: float64 ``(N, C)``, in memory or mapped from a file.
    """

    columns: Mapping[str, CellColumn]
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    def position(self, name: str) -> int:
        """The place of a column among those of ``numbers``."""
        return list(self.columns).index(name)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows of some block, and their numbers."""
        step = max(1, _BLOCK // self.numbers.shape[1])
        for start in range(0, len(self), step):
            rows = slice(start, min(start + step, len(self)))
            yield rows, self.numbers[rows]

    def counts(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """How often each word of each column occurs among the rows of a bool mask; of numbers, how many there are."""
        found = {name: np.zeros(max(1, len(c.words)), dtype=np.int64) for name, c in self.columns.items()}
        for part, numbers in self.blocks():
            chosen = numbers[rows[part]]
            for i, (name, column) in enumerate(self.columns.items()):
                present = chosen[:, i][~np.isnan(chosen[:, i])]
                if column.numeric:
                    found[name] += len(present)
                elif column.words:
                    found[name] += np.bincount(present.astype(np.int64), minlength=len(column.words))
        return found


def read_cells(path: Path, keep: Iterable[str] = ()) -> TableCells:
    """The cells of a .csv file; of the columns ``keep`` every word is kept."""
    rows = CsvRows(path)
    columns = cell_columns(rows, keep)
    stream = io.BytesIO()
    write_cells(stream, columns, rows.blocks())
    return TableCells(columns, np.frombuffer(stream.getbuffer(), dtype=np.float64).reshape(-1, len(columns)))


def cells_of(content: Mapping[str, Sequence[str | None]]) -> TableCells:
    """Columns of words, None where missing, as cells; every word is kept."""
    columns = {name: CellColumn(keep=True) for name in content}
    stream = io.BytesIO()
    write_cells(stream, columns, [[[cell or "" for cell in cells] for cells in content.values()]])
    return TableCells(columns, np.frombuffer(stream.getbuffer(), dtype=np.float64).reshape(-1, len(columns)))


def cell_columns(rows: CsvRows, keep: Iterable[str]) -> dict[str, CellColumn]:
    """An empty column for each of a file's; of the columns ``keep`` every word is kept."""
    kept = set(keep)
    return {name: CellColumn(rows.decimal_comma, name in kept) for name in rows.names}


def write_cells(
    stream: IO[bytes], columns: Mapping[str, CellColumn], blocks: Iterable[Sequence[Sequence[str]]]
) -> int:
    """Write blocks of cells as rows of float64; returns how many rows there are."""
    done = 0
    for block in blocks:
        numbers = np.empty((len(block[0]), len(columns)))
        for i, (column, cells) in enumerate(zip(columns.values(), block, strict=True)):
            numbers[:, i] = column.read(cells, done)
        for i, column in enumerate(columns.values()):
            if (table := column.switched()) is not None:
                _replace(numbers, i, table)
                _replace_written(stream, done, len(columns), i, table)
        stream.write(numbers.data)
        done += len(numbers)
    return done


def _replace(numbers: np.ndarray, i: int, table: np.ndarray) -> None:
    """Numbers of words by the numbers that the words are."""
    present = ~np.isnan(numbers[:, i])
    numbers[present, i] = table[numbers[present, i].astype(np.int64)]


def _replace_written(stream: IO[bytes], done: int, width: int, i: int, table: np.ndarray) -> None:
    """The same in what is written already; the stream ends where it was."""
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
