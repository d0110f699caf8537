"""What each column of a table holds, as its training rows tell; and its rows as numbers.

Rows that are kept for the test decide nothing: neither a column's kind nor its words. A word that only they have is a
missing cell, and is said aloud.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from unknot.data.column import COLUMN_KINDS, Column, ColumnKind
from unknot.data.lost_digits import lost_digits, sentence
from unknot.data.user.csv_cell import has_comma, is_number
from unknot.data.user.table_cells import TableCells
from unknot.data.user.table_rows import TableRows
from unknot.errors import DataError, UnknotWarning

LEAVE_OUT = "leave out"  # the kind of a column that is neither data nor label, a row number for instance
_MANY_WORDS = 100  # a category with more different words is worth a word
_FEW_ROWS = 20  # in fewer rows words that are all different may still be a category
_STRAY_WORDS = 0.1  # a column with fewer words than this among its numbers has mistakes in it
_MANY_NUMBERS = 10  # a category of more different numbers than this, and of few words, is worth a word


class WordsNeeded(Exception):
    """A column of many numbers turns out to be one of words: it is to be read again with every word kept."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def read_columns(
    where: str,
    cells: TableCells,
    kinds: Mapping[str, str],
    known: Sequence[Column] = (),
    names: Sequence[str] | None = None,
    deciding: np.ndarray | None = None,
    first: int = 2,
) -> tuple[tuple[Column, ...], TableRows]:
    """The columns and their rows ``(N, C)``, NaN where missing.

    Arguments:

    * ``kinds``: those that are declared;
    * ``known``: the columns of earlier data, which these must share;
    * ``names``: which columns are data, by default all;
    * ``deciding``: bool ``(N,)``, the rows that tell kinds and words, by default all;
    * ``first``: the number of the first row in messages, by default that after a header.
    """
    rows = np.ones(len(cells), dtype=bool) if deciding is None else deciding
    found = _Reader(where, cells, cells.counts(rows), rows, first)
    table = tuple(known)
    if not known:
        wanted = list(cells.columns) if names is None else names
        empty = found.empty([name for name in wanted if name not in kinds])
        rest = [name for name in wanted if name not in empty]
        data = [name for name in rest if name in kinds or not found.tells_rows_apart(name)]
        table = tuple(found.describe(name, kinds.get(name)) for name in data)
    if not table:
        raise DataError(f"{where} has no columns of data.")
    for column in table:
        if column.name not in cells.columns:
            raise DataError(f"{where} has no column '{column.name}', which the model was trained on.")
    lookups = [found.lookup(column, bool(known)) for column in table]
    return table, TableRows(cells.numbers, [cells.position(c.name) for c in table], lookups)


class _Reader:
    """A table's cells, and how often each word occurs among the rows that decide."""

    def __init__(
        self,
        where: str,
        cells: TableCells,
        counts: Mapping[str, np.ndarray],
        deciding: np.ndarray,
        first: int,
    ) -> None:
        self.where, self.cells, self.counts, self.deciding, self.first = where, cells, counts, deciding, first

    def describe(self, name: str, kind: str | None) -> Column:
        """The column's kind: as declared, or words a category, 0 and 1 binary, anything else real."""
        if kind is not None and kind not in COLUMN_KINDS:
            kinds = ", ".join((*COLUMN_KINDS, LEAVE_OUT))
            raise DataError(f"{self.where}, column '{name}': kind is one of {kinds}, not {kind!r}.")
        kind = kind or self._inferred(name)
        if kind == "category" and self.cells.columns[name].numeric:
            raise WordsNeeded(name)
        return Column(
            name, cast(ColumnKind, kind), tuple(sorted(self._words(name))) if kind == "category" else ()
        )

    def lookup(self, column: Column, is_known: bool) -> np.ndarray | None:
        """The number that each word of a column stands for; None where cells are these numbers already."""
        held = self.cells.columns[column.name]
        if column.kind == "category":
            if held.numeric:
                raise WordsNeeded(column.name)
            index = {word: float(i) for i, word in enumerate(column.classes)}
            strange = [word for word in held.words if word not in index]
            if strange and is_known:
                self._refuse(column, strange)
            if strange:
                self._say_unseen(column.name, strange)
            return np.array([index.get(word, np.nan) for word in held.words])
        if held.numeric:
            self._refuse(column, list(held.strays.values()))
            self._say_lost(column.name, self.cells.numbers[:, self.cells.position(column.name)])
            return None
        self._refuse(column, [word for word in held.words if not _can_hold(column.kind, word)])
        numbers = np.array([float(word) for word in held.words])
        self._say_lost(column.name, numbers)
        return numbers

    def empty(self, names: Sequence[str]) -> set[str]:
        """The columns without an entry."""
        found = [n for n in names if not self.counts[n].any() and not self.cells.columns[n].strays]
        if found and len(found) == len(self.cells.columns):
            raise DataError(f"{self.where} has no data: every entry is missing.")
        if found:
            listed = ", ".join(f"'{name}'" for name in found[:6]) + (", ..." if len(found) > 6 else "")
            self._warn(f"without an entry among the rows to train on, and left out: column {listed}.")
        return set(found)

    def tells_rows_apart(self, name: str) -> bool:
        """Whether a column only does that: another word in every row, or numbers under the name "id"."""
        count, called = int(self.deciding.sum()), name.lower() in ("", "id", "index")
        called = called or name.lower().endswith(("_id", " id"))
        present = self.counts[name]
        if present.sum() < max(count, _FEW_ROWS) or self.cells.columns[name].strays:
            return False
        if self.cells.columns[name].numeric:
            held = self.cells.numbers[self.deciding, self.cells.position(name)] if called else np.zeros(2)
            if len(np.unique(held)) < len(held):
                return False
        elif present.max() > 1 or (
            not called and any(is_number(w) or has_comma(w) for w in self._words(name))
        ):
            return False
        self._warn(
            f"column '{name}' is different in every row and is left out; to keep it, declare its kind: columns "
            f"{{'{name}': 'category'}}."
        )
        return True

    def _inferred(self, name: str) -> str:
        """Words are a category, 0 and 1 binary, other numbers real; a few words among numbers are a mistake."""
        held = self.cells.columns[name]
        strays = [row for row in held.strays if self.deciding[row]]
        present, words = int(self.counts[name].sum()) + len(strays), self._words(name)
        strange = [word for word in words if not is_number(word)]
        if not strays and not strange:
            return "binary" if not held.numeric and {float(word) for word in words} <= {0, 1} else "real"
        self._refuse_commas(name, strange)
        few = _STRAY_WORDS * present
        if len(strays) + sum(self._times(name, word) for word in strange) < few:
            row = min(strays) if strays else self._first_row(name, strange, self.deciding)
            raise DataError(
                f"{self._cell(name, row)} among numbers; mend or empty the cell, or declare the column: columns "
                f"{{'{name}': 'category'}}."
            )
        if held.numeric:
            raise WordsNeeded(name)
        if len(words) - len(strange) > max(_MANY_NUMBERS, len(strange)):
            self._warn(
                f"column '{name}' is taken as a category of {len(words)} words, for there is {strange[0]!r} among its "
                f"numbers; to have numbers, empty such cells; to keep it so, declare columns {{'{name}': 'category'}}."
            )
        elif len(words) > _MANY_WORDS:
            self._warn(
                f"column '{name}' is taken as a category of {len(words)} words; to leave it out, declare columns "
                f"{{'{name}': '{LEAVE_OUT}'}}."
            )
        return "category"

    def _refuse_commas(self, name: str, strange: list[str]) -> None:
        """Refuse words that are all numbers but for their commas: nobody can tell decimals from thousands."""
        if strange and all(map(has_comma, strange)):
            row = self._first_row(name, strange, self.deciding)
            raise DataError(
                f"{self._cell(name, row)}, which may be a number; write numbers with a decimal point and no comma, or "
                f"declare the column: columns {{'{name}': 'category'}}."
            )

    def _words(self, name: str) -> list[str]:
        """The different words of a column among the rows that decide."""
        held = self.cells.columns[name].words
        return [word for word, count in zip(held, self.counts[name], strict=False) if count]

    def _times(self, name: str, word: str) -> int:
        return int(self.counts[name][self.cells.columns[name].words.index(word)])

    def _cell(self, name: str, row: int) -> str:
        """The beginning of a sentence about a cell: where it is, and what is in it."""
        held = self.cells.columns[name]
        word = held.strays.get(row) or held.words[int(self.cells.numbers[row, self.cells.position(name)])]
        return f"{self.where}, column '{name}', row {row + self.first}: got {word!r}"

    def _first_row(self, name: str, words: Sequence[str], rows: np.ndarray) -> int:
        """The first of some rows that has one of the words."""
        held = self.cells.columns[name].words
        codes = [held.index(word) for word in words]
        has = np.isin(self.cells.numbers[:, self.cells.position(name)], codes)
        return int(np.nonzero(has & rows)[0][0])

    def _refuse(self, column: Column, strange: list[str]) -> None:
        """Refuse words that a column cannot hold, naming the first row with one."""
        if not strange:
            return
        held = self.cells.columns[column.name]
        everywhere = np.ones(len(self.cells), dtype=bool)
        row = min(held.strays) if held.numeric else self._first_row(column.name, strange, everywhere)
        expected = f"one of {', '.join(column.classes)}" if column.kind == "category" else "a number"
        if column.kind == "binary":
            expected = f"0 or 1 (other numbers are declared: columns {{'{column.name}': 'real'}})"
        raise DataError(f"{self._cell(column.name, row)}, expected {expected}.")

    def _say_lost(self, name: str, numbers: np.ndarray) -> None:
        if lost_digits(numbers):
            warnings.warn(sentence(f"{self.where}, column '{name}'"), UnknotWarning, stacklevel=2)

    def _say_unseen(self, name: str, strange: Sequence[str]) -> None:
        listed = ", ".join(repr(word) for word in strange[:3]) + (", ..." if len(strange) > 3 else "")
        self._warn(
            f"column '{name}': rows kept for the test hold {listed}, which no training row has; such cells are taken "
            "as missing."
        )

    def _warn(self, text: str) -> None:
        warnings.warn(f"{self.where}, {text}", UnknotWarning, stacklevel=2)


def _can_hold(kind: str, word: str) -> bool:
    """Whether a column of numbers of some kind may hold the word."""
    return is_number(word) and (kind != "binary" or float(word) in (0.0, 1.0))
