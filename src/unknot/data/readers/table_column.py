"""The cells of one column as numbers, before its kind is known.

As long as a column has few distinct words, a cell is the number of its word, in order of first appearance, so the text
is kept. A column of many distinct numbers holds the numbers themselves. NaN is a missing cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unknot.data.readers.csv_cells import COMMA_NUMBER, MISSING, is_number, read_cell

MANY = 1000  # distinct words of a column, all of them numbers, above which their text is not kept
_MISSING = f"^({'|'.join(map(re.escape, MISSING))})$"
_WHOLE = r"^[-+]?[0-9]+$"


class TableColumn:
    """What has been read of one column.

    Parameters
    ----------
    decimal_comma : bool, default=False
        Whether text such as "1,5" is a number.
    keep : bool, default=False
        Whether to keep the words, however many they are.

    Attributes
    ----------
    words : list of str
        The distinct words in order of their numbers; empty if cells are numbers themselves.
    numeric : bool
        Whether cells are numbers themselves.
    strays : dict from row to word
        In a numeric column, the words among its numbers.
    whole : bool
        In a numeric column, whether every cell is written as a whole number.
    """

    def __init__(self, decimal_comma: bool = False, keep: bool = False) -> None:
        self.words: list[str] = []
        self.numeric = False
        self.strays: dict[int, str] = {}
        self.whole = True
        self._comma, self._keep = decimal_comma, keep
        self._number: dict[str, int] = {}  # of a word
        self._seen: dict[str, float] = {}  # of a cell's text, spaces included

    def read(self, values: pa.Array, row: int) -> np.ndarray:
        """Read the next cells.

        Parameters
        ----------
        values : pyarrow.Array
            The cells ``(n,)``, text, numbers or bools.
        row : int
            The row of the first of them.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        if self.numeric:
            return self._numbers(values, row)
        encoded = values.dictionary_encode()
        words = encoded.dictionary
        texts = words.to_pylist() if _is_text(words) else map(_text, words.to_pylist())
        codes = [self._learn(text) if (code := self._seen.get(text)) is None else code for text in texts]
        return np.array([*codes, np.nan])[_as_numpy(encoded.indices, np.int32, -1)]

    def switched(self) -> np.ndarray | None:
        """Turn the column to numbers, if it has too many words to keep.

        Returns
        -------
        ndarray or None
            The number that each word so far stands for, by which the caller replaces the cells that it has got; None
            if nothing changes.
        """
        if self.numeric or self._keep or len(self.words) <= MANY or not all(map(is_number, self.words)):
            return None
        numbers = np.array([float(word) for word in self.words])
        self.whole = all(map(_is_whole, self.words))
        self.numeric, self.words = True, []
        self._number, self._seen = {}, {}
        return numbers

    def to_dict(self) -> dict[str, Any]:
        """Return what has been read as plain data, from which reading cannot go on."""
        strays = [[row, word] for row, word in self.strays.items()]
        return {"words": self.words, "numeric": self.numeric, "strays": strays, "whole": self.whole}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> TableColumn:
        """Return the column of which :meth:`to_dict` gave the ``content``."""
        column = cls()
        column.words, column.numeric = list(content["words"]), content["numeric"]
        column.whole = content["whole"]
        column.strays = {int(row): word for row, word in content["strays"]}
        return column

    def _learn(self, text: str) -> float:
        word = read_cell(text, self._comma)
        if word is None:
            value = np.nan
        else:
            value = float(self._number.setdefault(word, len(self.words)))
            if value == len(self.words):
                self.words.append(word)
        if len(self._seen) > 10 * MANY:  # a column of texts, which do not come again
            self._seen.clear()
        self._seen[text] = value
        return value

    def _numbers(self, values: pa.Array, row: int) -> np.ndarray:
        """Read cells of a numeric column; other words become strays."""
        if not _is_text(values):
            self.whole = self.whole and pa.types.is_integer(values.type)
            return _to_floats(values)
        try:
            numbers = _to_floats(values)
        except pa.ArrowInvalid:
            values = pc.utf8_trim_whitespace(values)
            is_missing = pc.match_substring_regex(values, _MISSING)
            values = pc.if_else(is_missing, pa.nulls(len(values), values.type), values)
            if self._comma:
                values = pc.replace_substring_regex(values, f"^{COMMA_NUMBER}$", r"\1.\2")
            try:
                numbers = _to_floats(values)
            except pa.ArrowInvalid:
                numbers = self._numbers_by_cell(values.to_pylist(), row)
        if self.whole:
            present = numbers[~np.isnan(numbers)]
            self.whole = bool((present == np.rint(present)).all()) and self._all_whole(values)
        return numbers

    def _numbers_by_cell(self, cells: Sequence[str | None], row: int) -> np.ndarray:
        numbers = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            word = None if cell is None else read_cell(cell, self._comma)
            if word is None:
                continue
            try:
                numbers[i] = float(word)
            except ValueError:
                self.strays[row + i] = word
        return numbers

    def _all_whole(self, values: pa.Array) -> bool:
        others = values.filter(pc.invert(pc.match_substring_regex(values, _WHOLE)))
        return all(
            _is_whole(cell) for cell in others.to_pylist() if cell is not None and read_cell(cell) is not None
        )


def _is_text(values: pa.Array) -> bool:
    return pa.types.is_string(values.type) or pa.types.is_large_string(values.type)


def _to_floats(values: pa.Array) -> np.ndarray:
    numbers = pc.cast(values, pa.float64(), safe=_is_text(values))  # whole numbers above 2^53 are rounded
    return _as_numpy(numbers, np.float64, np.nan)


def _as_numpy(values: pa.Array, dtype: type, missing: float) -> np.ndarray:
    """Return an array of numbers with ``missing`` in place of nulls. (Arrow's own ``to_numpy`` imports pandas.)"""
    valid, content = values.buffers()
    numbers: np.ndarray = np.frombuffer(content, dtype)[values.offset : values.offset + len(values)]
    if not values.null_count:
        return numbers
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
    is_valid = bits[values.offset : values.offset + len(values)].astype(bool)
    return np.where(is_valid, numbers, numbers.dtype.type(missing))


def _text(value: Any) -> str:
    """Return a typed value as the text of a cell; bools are numbers."""
    return str(float(value)) if isinstance(value, bool) else str(value)


def _is_whole(cell: str) -> bool:
    try:
        int(cell)
    except ValueError:
        return False
    return True
