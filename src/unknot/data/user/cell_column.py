"""CellColumn: the cells of one column as numbers, before anybody has said what the column is.

As long as a column has few different words, a cell is the number of its word, in the order in which words first
come; so nothing of the text is lost. A column of many different numbers holds these numbers themselves. NaN is a
missing cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unknot.data.user.csv_cell import is_number, read_cell

MANY = 1000  # different words of a column, all of them numbers, beyond which their text is not kept


class CellColumn:
    """What has been read of one column.

    * ``words``: the different words in the order of their numbers; empty where cells are numbers themselves;
    * ``numeric``: whether cells are numbers themselves;
    * ``strays``: where they are, the words among them, by row;
    * ``whole``: where they are, whether every cell is written as a whole number.

    ``keep`` keeps the words, however many.
    """

    def __init__(self, decimal_comma: bool = False, keep: bool = False) -> None:
        self.words: list[str] = []
        self.numeric = False
        self.strays: dict[int, str] = {}
        self.whole = True
        self._comma, self._keep = decimal_comma, keep
        self._number: dict[str, int] = {}  # of a word
        self._seen: dict[str, float] = {}  # of a cell's text, spaces and all

    def read(self, cells: Sequence[str], row: int) -> np.ndarray:
        """The cells, the first of which is in ``row``, as numbers ``(n,)`` float64."""
        if self.numeric:
            return self._read_numbers(cells, row)
        found = list(map(self._seen.get, cells))
        if None in found:
            found = [
                self._learn(cell) if value is None else value
                for cell, value in zip(cells, found, strict=True)
            ]
        return np.array(found, dtype=np.float64)

    def switched(self) -> np.ndarray | None:
        """The numbers that the words so far stand for, if there are too many to keep; cells are numbers from now on.

        Whoever holds earlier cells replaces them.
        """
        if self.numeric or self._keep or len(self.words) <= MANY or not all(map(is_number, self.words)):
            return None
        numbers = np.array([float(word) for word in self.words])
        self.whole = all(map(_is_whole, self.words))
        self.numeric, self.words = True, []
        self._number, self._seen = {}, {}
        return numbers

    def to_dict(self) -> dict[str, Any]:
        """What has been read, as plain data; nothing can be read on from it."""
        strays = [[row, word] for row, word in self.strays.items()]
        return {"words": self.words, "numeric": self.numeric, "strays": strays, "whole": self.whole}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> CellColumn:
        """The column that :meth:`to_dict` told of."""
        column = cls()
        column.words, column.numeric, column.whole = list(told["words"]), told["numeric"], told["whole"]
        column.strays = {int(row): word for row, word in told["strays"]}
        return column

    def _learn(self, cell: str) -> float:
        word = read_cell(cell, self._comma)
        if word is None:
            value = np.nan
        else:
            value = float(self._number.setdefault(word, len(self.words)))
            if value == len(self.words):
                self.words.append(word)
        if len(self._seen) > 10 * MANY:  # a column of texts, which do not come again
            self._seen.clear()
        self._seen[cell] = value
        return value

    def _read_numbers(self, cells: Sequence[str], row: int) -> np.ndarray:
        try:
            numbers = np.array(list(map(float, cells)))
        except ValueError:
            numbers = np.array([self._read_number(cell, row + i) for i, cell in enumerate(cells)])
        if self.whole:
            self.whole = all(_is_whole(cell) for cell in cells if read_cell(cell) is not None)
        return numbers

    def _read_number(self, cell: str, row: int) -> float:
        word = read_cell(cell, self._comma)
        if word is None:
            return np.nan
        try:
            return float(word)
        except ValueError:
            self.strays[row] = word
            return np.nan


def _is_whole(cell: str) -> bool:
    try:
        int(cell)
    except ValueError:
        return False
    return True
