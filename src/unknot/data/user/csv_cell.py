"""One cell of a .csv table: what is missing, what is a number, and words that a spreadsheet would run."""

from __future__ import annotations

import re

# "none" is an answer and "Na" an element
_MISSING = {"", "?", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "NAN", "nan", "None", "NULL", "Null", "null"}
_COMMA_NUMBER = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
_GROUPED_NUMBER = re.compile(r"[-+]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d{3})+,\d+)")
_PLAIN_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf", re.ASCII)
_FORMULA = re.compile(
    r"'*[=+\-@\t\r]"
)  # how a cell begins that a spreadsheet takes for a formula, guarded or not
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def read_cell(text: str, decimal_comma: bool = False) -> str | None:
    """The word in a cell, None where it is missing; a decimal comma becomes a point, and a guard goes."""
    text = text.strip()
    if text in _MISSING:
        return None
    if decimal_comma and _COMMA_NUMBER.fullmatch(text):
        return text.replace(",", ".")
    return unguarded(text)


def is_number(cell: str) -> bool:
    """Whether a cell is a number, as Python reads numbers."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def has_comma(cell: str) -> bool:
    """Whether a cell may be a number with a comma in it, before its decimals or between its thousands.

    >>> [cell for cell in ("1,5", "12,345.6", "12.345,6", "1,2,3", "1.5", "a,b") if has_comma(cell)]
    ['1,5', '12,345.6', '12.345,6']
    """
    return bool(_COMMA_NUMBER.fullmatch(cell) or _GROUPED_NUMBER.fullmatch(cell))


def guarded(cell: str) -> str:
    """A cell as we write it: what a spreadsheet would run as a formula gets a quote before it; numbers stay.

    >>> guarded("=cmd|' /C calc'!A0"), guarded("-1.5"), guarded("-x")
    ("'=cmd|' /C calc'!A0", '-1.5', "'-x")
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _PLAIN_NUMBER.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """The cell that :func:`guarded` wrote.

    >>> unguarded(guarded("@x")), unguarded("it's")
    ('@x', "it's")
    """
    return cell[1:] if _GUARDED.match(cell) else cell
