"""Cells of CSV files: what is missing, what is a number, text that a spreadsheet would run; and tables as CSV."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from unknot.data.dataset import Column
from unknot.files import atomic_file

# Not "none", which is a possible answer, nor "Na", which is an element.
MISSING = ("", "?", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "NAN", "nan", "None", "NULL", "Null", "null")
COMMA_NUMBER = r"([-+]?\d+),(\d+([eE][-+]?\d+)?)"
_COMMA_NUMBER = re.compile(COMMA_NUMBER)
_GROUPED_NUMBER = re.compile(r"[-+]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d{3})+,\d+)")
_PLAIN_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf", re.ASCII)
_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # the beginning of a formula, escaped or not
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")


def read_cell(text: str, decimal_comma: bool = False) -> str | None:
    """Return the word in a cell, None where it is missing; a decimal comma becomes a point.

    >>> [read_cell(text) for text in (" x ", "NA", "1,5")], read_cell("1,5", decimal_comma=True)
    (['x', None, '1,5'], '1.5')
    """
    text = text.strip()
    if text in MISSING:
        return None
    if decimal_comma and _COMMA_NUMBER.fullmatch(text):
        return text.replace(",", ".")
    return unguarded(text)


def is_number(cell: str) -> bool:
    """Return whether Python reads the cell as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def has_comma(cell: str) -> bool:
    """Return whether a cell may be a number with a comma before its decimals or between its thousands.

    >>> [cell for cell in ("1,5", "12,345.6", "12.345,6", "1,2,3", "1.5", "a,b") if has_comma(cell)]
    ['1,5', '12,345.6', '12.345,6']
    """
    return bool(_COMMA_NUMBER.fullmatch(cell) or _GROUPED_NUMBER.fullmatch(cell))


def guarded(cell: str) -> str:
    """Escape a cell that a spreadsheet would run as a formula by a quote before it; numbers stay.

    >>> guarded("=cmd|' /C calc'!A0"), guarded("-1.5"), guarded("-x")
    ("'=cmd|' /C calc'!A0", '-1.5', "'-x")
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _PLAIN_NUMBER.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """Return the cell from which :func:`guarded` made this one.

    >>> unguarded(guarded("@x")), unguarded("it's")
    ('@x', "it's")
    """
    return cell[1:] if _ESCAPED.match(cell) else cell


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file, whole or not at all, row by row.

    Cells that a spreadsheet would run as formulas are escaped (:func:`guarded`); reading removes the escape.

    Parameters
    ----------
    path : Path
        The file to write.
    header : sequence of str
        The names of the columns.
    rows : iterable of sequences of str
        The cells.
    """
    with atomic_file(path) as stream:
        writer = csv.writer(codecs.getwriter("utf-8")(stream))
        writer.writerow([guarded(name) for name in header])
        writer.writerows([guarded(cell) for cell in row] for row in rows)


def table_cells(table: Sequence[Column], rows: np.ndarray) -> list[list[str]]:
    """Format rows ``(N, C)`` of a table as cells: categories as words, missing values as empty cells."""
    return [[_cell(column, float(value)) for column, value in zip(table, row, strict=True)] for row in rows]


def _cell(column: Column, value: float) -> str:
    if value != value:
        return ""
    return column.classes[round(value)] if column.classes else f"{value:.6g}"
