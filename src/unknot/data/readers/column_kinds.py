"""The kinds of a table's columns, inferred from its training rows or declared; and the rows as numbers.

Rows of the test split decide neither a column's kind nor its words. A word that only they have is a missing cell, with
a warning.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import cast

import numpy as np

from unknot.data.dataset import COLUMN_KINDS, Column, ColumnKind
from unknot.data.float32_precision import loses_precision, precision_warning
from unknot.data.readers.csv_cells import has_comma, is_number
from unknot.data.readers.table_cells import TableCells, TableRows
from unknot.data.readers.written_cells import DATE, WORD, date_forms, find_form, is_since, value_of
from unknot.data.word_counter import WordCounter, words_of
from unknot.errors import DataError, UnknotWarning

TEXT = "text"  # the kind of a column that becomes one for each of its commonest words
LEAVE_OUT = "leave out"  # the kind of a column that is neither data nor label, a row number for instance
_MANY_WORDS = 100  # a category with more distinct words gets a warning
_FEW_ROWS = 20  # in fewer rows, words that are all different may still be a category
_STRAY_WORDS = 0.1  # a column with a smaller share of words among its numbers has mistakes in it
_LONG = 9  # digits of whole numbers that are all different, which make them names
_MANY_NUMBERS = 10  # a category of more distinct numbers than this, and of few words, gets a warning


_TEXT_WORDS = 3  # cells with more words than this, on average, are texts rather than names
_DIFFERENT = 0.5  # of the cells of a column of texts, at least
_VOCABULARY = 400  # words of a column of texts: with the other columns still no wide table
_LIMIT = re.compile(r"[<>≤≥]=?\s*[-+]?[\d.,]+.*")  # "<10"


class WordsNeeded(Exception):
    """The words of a numeric column are needed: the table has to be read again with them."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def read_columns(
    where: str,
    cells: TableCells,
    kinds: Mapping[str, str],
    known: Sequence[Column] = (),
    names: Sequence[str] | None = None,
    training: np.ndarray | None = None,
    first: int = 2,
    errors: str | None = None,
) -> tuple[tuple[Column, ...], TableRows]:
    """Find the kinds of columns, and make the rows.

    Parameters
    ----------
    where : str
        The table, for messages.
    cells : TableCells
        What has been read.
    kinds : mapping from column to kind
        Kinds that are declared.
    known : sequence of Column, optional
        The columns of the training data, which these must share.
    names : sequence of str, optional
        The columns that are data; default: all.
    training : ndarray of bool, shape (N,), optional
        The rows that decide kinds and words; default: all.
    first : int, default=2
        The number of the first row in messages; 2 after a header.
    errors : {"warn", "raise"}, optional
        Of data for known columns: "raise" refuses a category that is not known, which else is a missing cell; "warn"
        notes the rows with a cell that cannot be read (``TableRows.odd_rows``), which else is refused.

    Returns
    -------
    columns : tuple of Column
    rows : TableRows
        ``(N, C)``, NaN where missing.

    Raises
    ------
    DataError
        If a column cannot be what it should be.
    WordsNeeded
        If the table has to be read again with all words of a column.
    """
    rows = np.ones(len(cells), dtype=bool) if training is None else training
    reader = _ColumnReader(where, cells, cells.counts(rows), rows, first, errors)
    table = tuple(known)
    if not known:
        candidates = list(cells.columns) if names is None else names
        empty = reader.empty([name for name in candidates if name not in kinds])
        rest = [name for name in candidates if name not in empty]
        data = [name for name in rest if name in kinds or not reader.is_identifier(name)]
        table = tuple(chain.from_iterable(reader.describe(name, kinds.get(name)) for name in data))
    if not table:
        raise DataError(f"{where} has no columns of data.")
    for column in table:
        if column.origin not in cells.columns:
            raise DataError(f"{where} has no column '{column.origin}', which the model was trained on.")
    lookups = [reader.lookup(column, bool(known)) for column in table]
    positions = [cells.position(column.origin) for column in table]
    return table, TableRows(cells.numbers, positions, lookups, tuple(sorted(reader.odd_rows)))


def identifiers(where: str, cells: TableCells, names: Sequence[str], training: np.ndarray) -> set[str]:
    """Return which of some columns are empty or only tell rows apart, with a warning if these are all of them."""
    reader = _ColumnReader(where, cells, cells.counts(training), training, 2, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = reader.empty(names)
        found |= {name for name in names if name not in found and reader.is_identifier(name)}
    if found == set(names):
        for one in caught:
            warnings.warn(one.message, stacklevel=2)
    return found


def without_odd_cells(
    rows: np.ndarray, table: Sequence[Column], where: str, first: int
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return rows ``(N, C)`` with numbers that columns cannot hold as missing, and which rows had such; with a warning.

    These are infinite numbers, and in binary columns and counts numbers that are not whole or out of range.
    """
    is_odd = np.isinf(rows.astype(np.float32))
    for i, column in enumerate(table):
        if column.kind in ("binary", "count"):
            end = 2 if column.kind == "binary" else np.inf
            values = rows[:, i]
            is_odd[:, i] |= (
                (values < 0) | (values >= end) | (np.isfinite(values) & (values != np.rint(values)))
            )
    odd_rows = np.nonzero(is_odd.any(1))[0]
    if len(odd_rows):
        row = odd_rows[0]
        i = np.nonzero(is_odd[row])[0][0]
        warnings.warn(
            f"{where}, column '{table[i].name}', row {row + first}: got {rows[row, i]:g}, expected "
            f"{_expected(table[i])}; the row has no prediction{_listed(odd_rows[1:] + first)}; to refuse such data: "
            "errors='raise'.",
            UnknotWarning,
            stacklevel=2,
        )
    return np.where(is_odd, np.nan, rows), tuple(odd_rows.tolist())


class _ColumnReader:
    """A table's cells, and the count of each word among the training rows."""

    def __init__(
        self,
        where: str,
        cells: TableCells,
        counts: Mapping[str, np.ndarray],
        training: np.ndarray,
        first: int,
        errors: str | None,
    ) -> None:
        self.where, self.cells, self.counts, self.training, self.first = where, cells, counts, training, first
        self.errors = errors
        self.odd_rows: set[int] = set()
        self._words_of_texts: dict[str, list[frozenset[str]]] = {}

    def describe(self, name: str, kind: str | None) -> list[Column]:
        """Return the column with its declared kind; else words are a category, 0 and 1 binary, the rest real.

        A date is several columns, and so are texts.
        """
        if kind is not None and kind not in (*COLUMN_KINDS, TEXT):
            kinds = ", ".join((*COLUMN_KINDS, TEXT, LEAVE_OUT))
            raise DataError(f"{self.where}, column '{name}': kind is one of {kinds}, not {kind!r}.")
        if kind is None and (form := self._form(name)):
            self._refuse_mistakes(name, form)
            if form != DATE:
                return [Column(name, "real", reads=form)]
            return [
                Column(f"{name} ({'days' if is_since(part) else part})", "real", reads=part, source=name)
                for part in date_forms(self._words(name))
            ]
        if kind == TEXT or (kind is None and is_text(self.cells, name, self.counts[name])):
            return [
                Column(f"{name}: {word}", "binary", reads=WORD + word, source=name)
                for word in self._vocabulary(name)
            ]
        kind = kind or self._inferred_kind(name)
        if kind == "category" and self.cells.columns[name].numeric:
            raise WordsNeeded(name)
        classes = tuple(sorted(self._words(name))) if kind == "category" else ()
        return [Column(name, cast(ColumnKind, kind), classes)]

    def lookup(self, column: Column, is_known: bool) -> np.ndarray | None:
        """Return the number that each word of a column stands for; None where cells are these numbers already."""
        content = self.cells.columns[column.origin]
        if column.needs_words and content.numeric:
            raise WordsNeeded(column.origin)
        if column.kind == "category":
            index = {word: float(i) for i, word in enumerate(column.classes)}
            unknown = [word for word in content.words if word not in index]
            if unknown and self.errors == "raise":
                self._refuse(column, unknown)
            if unknown:
                listed = ", ".join(repr(word) for word in unknown[:3]) + (", ..." if len(unknown) > 3 else "")
                rows = "there are" if is_known else "rows kept for the test hold"
                self._warn(
                    f"column '{column.name}': {rows} {listed}, which no training row has; such cells are taken as "
                    "missing."
                )
            return np.array([index.get(word, np.nan) for word in content.words])
        if column.reads.startswith(WORD):
            word = column.reads.removeprefix(WORD)
            return np.array([float(word in found) for found in self._found_words(column.origin)])
        if content.numeric:
            self._refuse_or_note(column, list(content.strays.values()))
            numbers = self.cells.numbers[:, self.cells.position(column.name)]
        else:
            numbers = np.array([value_of(word, column.reads) for word in content.words])
            if column.kind == "binary":
                numbers[(numbers != 0) & (numbers != 1)] = np.nan
            unread = np.isnan(numbers).tolist()
            self._refuse_or_note(
                column, [word for word, is_odd in zip(content.words, unread, strict=True) if is_odd]
            )
        if loses_precision(numbers):
            self._warn_of(precision_warning(f"{self.where}, column '{column.name}'"))
        return None if content.numeric else numbers

    def empty(self, names: Sequence[str]) -> set[str]:
        """Return the columns without an entry, with a warning."""
        empty = [n for n in names if not self.counts[n].any() and not self.cells.columns[n].strays]
        if empty and len(empty) == len(self.cells.columns):
            raise DataError(f"{self.where} has no data: every entry is missing.")
        if empty:
            listed = ", ".join(f"'{name}'" for name in empty[:6]) + (", ..." if len(empty) > 6 else "")
            self._warn(f"without an entry among the rows to train on, and left out: column {listed}.")
        return set(empty)

    def is_identifier(self, name: str) -> bool:
        """Return whether a column only tells rows apart: distinct words, or distinct numbers under a name like "id"."""
        count, named_so = int(self.training.sum()), name.lower() in ("", "id", "index")
        named_so = named_so or name.lower().endswith(("_id", " id"))
        present = self.counts[name]
        if present.sum() < max(count, _FEW_ROWS) or self.cells.columns[name].strays:
            return False
        if self.cells.columns[name].numeric:
            numbers = self.cells.numbers[self.training, self.cells.position(name)]
            if len(np.unique(numbers)) < len(numbers):
                return False
            if not named_so and not (self.cells.columns[name].whole and _are_long(numbers)):
                return False
        elif present.max() > 1 or self._form(name) or is_text(self.cells, name, present):
            return False
        elif not named_so and any(is_number(w) or has_comma(w) for w in self._words(name)):
            words = self._words(name)
            if not (all(map(str.isdecimal, words)) and _are_long(np.array([float(word) for word in words]))):
                return False
        self._warn(
            f"column '{name}' is different in every row and is left out; to keep it, declare its kind: columns "
            f"{{'{name}': 'category'}}."
        )
        return True

    def _inferred_kind(self, name: str) -> str:
        """Return the kind: words are a category; a few words among numbers are refused as mistakes."""
        content = self.cells.columns[name]
        strays = [row for row in content.strays if self.training[row]]
        present, words = int(self.counts[name].sum()) + len(strays), self._words(name)
        others = [word for word in words if not is_number(word)]
        if not strays and not others:
            return "binary" if not content.numeric and {float(word) for word in words} <= {0, 1} else "real"
        self._refuse_commas(name, others)
        if len(strays) + sum(self._count(name, word) for word in others) < _STRAY_WORDS * present:
            self._refuse_mistake(
                name, min(strays) if strays else self._first_row(name, others, self.training)
            )
        if content.numeric:
            raise WordsNeeded(name)
        if len(words) - len(others) > max(_MANY_NUMBERS, len(others)):
            if all(map(_LIMIT.fullmatch, others)):
                raise DataError(
                    f"{self._cell(name, self._first_row(name, others, self.training))} among numbers, a limit and no "
                    "number; write the limit alone or empty such cells, or declare the column: columns "
                    f"{{'{name}': 'category'}}."
                )
            self._warn(
                f"column '{name}' is taken as a category of {len(words)} words, for there is {others[0]!r} among its "
                f"numbers; to have numbers, empty such cells; to keep it so, declare columns {{'{name}': 'category'}}."
            )
        elif len(words) > _MANY_WORDS:
            self._warn(
                f"column '{name}' is taken as a category of {len(words)} words; to leave it out, declare columns "
                f"{{'{name}': '{LEAVE_OUT}'}}."
            )
        return "category"

    def _vocabulary(self, name: str) -> list[str]:
        """Return the commonest words of a column of texts; from 100 texts on, none that only one of them has."""
        if self.cells.columns[name].numeric:
            raise WordsNeeded(name)
        texts = list(
            chain.from_iterable(map(repeat, self.cells.columns[name].words, self.counts[name].tolist()))
        )
        return sorted(WordCounter.learn(texts, max_features=_VOCABULARY).words)

    def _found_words(self, name: str) -> list[frozenset[str]]:
        """Return the words of each distinct text of a column."""
        if name not in self._words_of_texts:
            self._words_of_texts[name] = words_of(self.cells.columns[name].words)
        return self._words_of_texts[name]

    def _form(self, name: str) -> str:
        """Return how the words of the column are read, if they are numbers or dates in words."""
        content = self.cells.columns[name]
        if content.numeric:
            if any(find_form([word], {word: 1}, "") for word in set(content.strays.values())):
                raise WordsNeeded(name)
            return ""
        counts = dict(zip(content.words, self.counts[name].tolist(), strict=False))
        return find_form(self._words(name), counts, f"{self.where}, column '{name}'")

    def _refuse_mistakes(self, name: str, form: str) -> None:
        """Refuse words that are not of the form of the others."""
        reads = "year" if form == DATE else form
        others = [word for word in self._words(name) if np.isnan(value_of(word, reads))]
        if others:
            self._refuse_mistake(
                name, self._first_row(name, others, self.training), "dates" if form == DATE else "numbers"
            )

    def _refuse_mistake(self, name: str, row: int, what: str = "numbers") -> None:
        raise DataError(
            f"{self._cell(name, row)} among {what}; mend or empty the cell, or declare the column: columns "
            f"{{'{name}': 'category'}}."
        )

    def _refuse_commas(self, name: str, words: list[str]) -> None:
        """Refuse words that are all numbers but for their commas, which may mark decimals or thousands."""
        if words and all(map(has_comma, words)):
            row = self._first_row(name, words, self.training)
            raise DataError(
                f"{self._cell(name, row)}, which may be a number; write numbers with a decimal point and no comma, or "
                f"declare the column: columns {{'{name}': 'category'}}."
            )

    def _words(self, name: str) -> list[str]:
        """Return the distinct words of a column among the training rows."""
        words = self.cells.columns[name].words
        return [word for word, count in zip(words, self.counts[name], strict=False) if count]

    def _count(self, name: str, word: str) -> int:
        return int(self.counts[name][self.cells.columns[name].words.index(word)])

    def _cell(self, name: str, row: int) -> str:
        """Return the beginning of a message about a cell: where it is and what is in it."""
        content = self.cells.columns[name]
        code = self.cells.numbers[row, self.cells.position(name)]
        word = content.strays.get(row) or content.words[int(code)]
        return f"{self.where}, column '{name}', row {row + self.first}: got {word!r}"

    def _first_row(self, name: str, words: Sequence[str], rows: np.ndarray) -> int:
        """Return the first of some rows that has one of the words."""
        all_words = self.cells.columns[name].words
        codes = [all_words.index(word) for word in words]
        is_one = np.isin(self.cells.numbers[:, self.cells.position(name)], codes)
        return int(np.nonzero(is_one & rows)[0][0])

    def _refuse_or_note(self, column: Column, words: list[str]) -> None:
        """Refuse words that a column cannot hold; for a batch of predictions note their rows instead."""
        if not words or self.errors != "warn":
            self._refuse(column, words)
            return
        content = self.cells.columns[column.origin]
        rows = list(content.strays)
        if not content.numeric:
            codes = [content.words.index(word) for word in words]
            rows = np.nonzero(np.isin(self.cells.numbers[:, self.cells.position(column.origin)], codes))[
                0
            ].tolist()
        self.odd_rows.update(rows)
        self._warn_of(
            f"{self._cell(column.origin, min(rows))}, expected {_expected(column)}; the row has no prediction"
            f"{_listed(np.sort(rows)[1:] + self.first)}; to refuse such data: errors='raise'."
        )

    def _refuse(self, column: Column, words: list[str]) -> None:
        """Refuse words that a column cannot hold, naming the first row with one."""
        if not words:
            return
        content = self.cells.columns[column.origin]
        everywhere = np.ones(len(self.cells), dtype=bool)
        row = min(content.strays) if content.numeric else self._first_row(column.origin, words, everywhere)
        raise DataError(f"{self._cell(column.origin, row)}, expected {_expected(column)}.")

    def _warn(self, text: str) -> None:
        self._warn_of(f"{self.where}, {text}")

    @staticmethod
    def _warn_of(text: str) -> None:
        warnings.warn(text, UnknotWarning, stacklevel=2)


def is_text(cells: TableCells, name: str, counts: np.ndarray) -> bool:
    """Return whether the cells of a column have several words, and most of them differ.

    Parameters
    ----------
    cells : TableCells
        What has been read.
    name : str
        The column.
    counts : ndarray
        How often each of its distinct cells comes among the rows that decide.
    """
    content = cells.columns[name]
    if content.numeric:
        return False
    present = counts[: len(content.words)]
    words = sum(
        len(word.split()) * count for word, count in zip(content.words, present.tolist(), strict=True)
    )
    return int((present > 0).sum()) > _DIFFERENT * present.sum() and words > _TEXT_WORDS * present.sum()


def _expected(column: Column) -> str:
    """Return what a cell of the column has to be."""
    if column.kind == "category":
        return f"one of {', '.join(column.classes)}"
    if column.kind == "binary":
        return f"0 or 1 (other numbers are declared: columns {{'{column.name}': 'real'}})"
    if column.source:
        return "a date"
    return (
        f"a number in {column.reads.removeprefix('unit ')}"
        if column.reads.startswith("unit ")
        else "a number"
    )


def _listed(others: np.ndarray) -> str:
    listed = ", ".join(map(str, others[:5].tolist())) + (", ..." if len(others) > 5 else "")
    return f", nor have rows {listed}" if listed else ""


def _are_long(numbers: np.ndarray) -> bool:
    """Return whether whole numbers are all of equal length and long enough to be ids, and no seconds since 1970."""
    low, high = numbers.min(), numbers.max()
    digits = len(str(int(low)))
    return (
        digits == len(str(int(high)))
        and digits >= _LONG
        and not (digits in (10, 13) and str(int(high))[0] == "1")
    )
