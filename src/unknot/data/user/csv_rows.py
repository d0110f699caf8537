"""The rows of a .csv file, block by block: a header, then cells as text. Memory follows the block."""

from __future__ import annotations

import contextlib
import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from unknot.data.files.special_file import refuse_special_file
from unknot.data.user.csv_cell import read_cell, unguarded
from unknot.errors import DataError

_CELLS = 200_000  # in a block
_HEADER = 1 << 20  # characters among which the header's line is looked for
_LONGEST = 1 << 27  # characters of a cell: a book has a million


class CsvRows:
    """A table's column names, and its cells as they stand in the file.

    * ``names``: the header, each name in one line;
    * ``decimal_comma``: whether commas may part decimals, because they do not part cells.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        refuse_special_file(path)
        csv.field_size_limit(max(_LONGEST, csv.field_size_limit()))
        with self._explaining(), self._open() as file:
            start = file.read(_HEADER)
        self._mark = max(",;\t", key=start.lstrip().partition("\n")[0].count)  # that the header has most of
        self.decimal_comma = self._mark != ","
        self.names = self._header()

    def blocks(self) -> Iterator[list[tuple[str, ...]]]:
        """The columns of so many rows at a time; rows without any cell are passed over."""
        wanted = max(1, _CELLS // max(1, len(self.names)))
        number = 2  # the header is row 1
        with self._explaining(), self._open() as file:
            rows = filter(None, csv.reader(file, delimiter=self._mark))
            next(rows)
            while block := list(itertools.islice(rows, wanted)):
                self._refuse_ragged(block, number)
                number += len(block)
                yield list(zip(*block, strict=True))

    def _header(self) -> list[str]:
        with self._explaining(), self._open() as file:
            rows = filter(None, csv.reader(file, delimiter=self._mark))
            first, second = next(rows, None), next(rows, None)
        if first is None or second is None:
            raise DataError(f"{self.path} is empty: expected a header and at least one row.")
        names = [
            unguarded(" ".join(name.split())) for name in first
        ]  # a cell may have several lines, a name one
        if len(set(names)) != len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise DataError(f"{self.path}: two columns have the same name, '{twice}'.")
        return names

    def _open(self) -> IO[str]:
        return self.path.open(newline="", encoding="utf-8-sig")

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from None
        except (UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{self.path} is not a table in UTF-8 text: {error}.") from None

    def _refuse_ragged(self, block: Sequence[Sequence[str]], number: int) -> None:
        width = len(self.names)
        if set(map(len, block)) != {width}:
            row = next(i for i, cells in enumerate(block) if len(cells) != width)
            raise DataError(
                f"{self.path}, row {number + row}: {len(block[row])} cells under {width} columns."
            )


def is_table(path: Path) -> bool:
    """Whether a file's name is that of a table."""
    return path.suffix.lower() in (".csv", ".tsv")


def read_rows(path: Path) -> dict[str, list[str | None]]:
    """The columns of a small .csv file by name, None where a cell is empty."""
    rows = CsvRows(path)
    found: dict[str, list[str | None]] = {name: [] for name in rows.names}
    for block in rows.blocks():
        for name, cells in zip(rows.names, block, strict=True):
            found[name] += [read_cell(cell, rows.decimal_comma) for cell in cells]
    return found
