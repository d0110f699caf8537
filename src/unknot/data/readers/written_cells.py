"""Cells that are numbers or dates in words: "4.14 g/dl", "1,234.5", "2024-03-01 12:30".

How a column's words become numbers is a short text, ``Column.reads``: "" for plain numbers, "thousands", "unit g/dl",
and for the columns that a date becomes "year", "month", "weekday" (Monday is 0) and "days since 2024-01-01". Those that
texts become are "word gun": 1 for a text with this word, and 0 for others.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from unknot.data.readers.csv_cells import is_number
from unknot.errors import DataError

DATE, THOUSANDS = "date", "thousands"
WORD = "word "  # of texts
_UNIT, _SINCE = "unit ", "days since "
_SHARE = 0.9  # of a column's cells that have to be of a form; the others are mistakes
_FEW_UNITS = 3  # numbers with more different words behind them are names, such as those of houses
_FEW_NUMBERS = 10

_NUMBER = r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
_WITH_UNIT = re.compile(_NUMBER + r"\s*((?:[^\W\d_]|[%‰°€$£]).*)", re.DOTALL)
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_PLAIN_GROUP = re.compile(r"[-+]?\d{1,3}[,.]\d{3}", re.ASCII)  # "1,234" and "1.234" may be the same number
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?", re.ASCII)


def as_date(word: str) -> datetime | None:
    """Return the date and time of an ISO word without its time zone; None of another word.

    >>> as_date("2024-03-01"), as_date("2024-03-01T12:30:00Z"), as_date("2024-13-01"), as_date("20240301")
    (datetime.datetime(2024, 3, 1, 0, 0), datetime.datetime(2024, 3, 1, 12, 30), None, None)
    """
    if not _DATE.fullmatch(word):
        return None
    try:
        return datetime.fromisoformat(word).replace(tzinfo=None)
    except ValueError:
        return None


def value_of(word: str, reads: str = "") -> float:
    """Return the number that a word stands for, NaN if none.

    >>> value_of("4.14 g/dl", "unit g/dl"), value_of("1,234.5", "thousands"), value_of("2024-03-01", "month")
    (4.14, 1234.5, 3.0)
    >>> value_of("4.14 g/l", "unit g/dl"), value_of("2024-03-01 12:00", "days since 2024-02-28")
    (nan, 2.5)
    """
    if reads in ("year", "month", "weekday") or reads.startswith(_SINCE):
        return _date_part(word, reads)
    if is_number(word):
        return float(word)
    if reads == THOUSANDS and _GROUPED.fullmatch(word):
        return float(word.replace(",", ""))
    found = _WITH_UNIT.fullmatch(word)
    if found and reads.startswith(_UNIT) and found[2] == reads.removeprefix(_UNIT):
        return float(found[1])
    return math.nan


def _date_part(word: str, reads: str) -> float:
    when = as_date(word)
    if when is None:
        return math.nan
    if reads.startswith(_SINCE):
        return (when - datetime.fromisoformat(reads.removeprefix(_SINCE))) / timedelta(days=1)
    return float(when.weekday() if reads == "weekday" else getattr(when, reads))


def date_of(days: float, reads: str) -> date:
    """Return the date that is ``days`` after the first."""
    return date.fromisoformat(reads.removeprefix(_SINCE)) + timedelta(days=round(days))


def find_form(words: Sequence[str], counts: Mapping[str, int], where: str) -> str:
    """Return how the words of a column are read: "", "date", "thousands" or "unit ...".

    Parameters
    ----------
    words : sequence of str
        The distinct words.
    counts : mapping from word to int
        How often each of them occurs.
    where : str
        The beginning of messages.

    Raises
    ------
    DataError
        If the column holds numbers in several units.
    """
    others = [word for word in words if not is_number(word)]
    if not others:
        return ""
    enough = _SHARE * sum(counts[word] for word in words)
    if sum(counts[word] for word in others if as_date(word)) >= enough:
        return DATE
    is_clear = any(_GROUPED.fullmatch(word) and not _PLAIN_GROUP.fullmatch(word) for word in others)
    if is_clear and all(map(_GROUPED.fullmatch, others)):
        # where commas mark decimals, "1,234" has become 1.234
        return "" if any(re.fullmatch(r"[-+]?\d{1,3}\.\d{3}", word) for word in words) else THOUSANDS
    units: Counter[str] = Counter()
    for word in others:
        if found := _WITH_UNIT.fullmatch(word):
            units[found[2]] += counts[word]
    plain = sum(counts[word] for word in words if is_number(word))
    if not units or plain > units.total() or units.total() + plain < enough:
        return ""
    unit, count = units.most_common(1)[0]
    if count + plain >= enough:
        return _UNIT + unit
    if len(units) <= _FEW_UNITS and len(words) > _FEW_NUMBERS:
        listed = ", ".join(repr(unit) for unit in units)
        raise DataError(
            f"{where}: expected numbers in one unit, got {listed}; convert them to one, or "
            "declare the column a category."
        )
    return ""


def date_forms(words: Sequence[str]) -> list[str]:
    """Return the numbers that a column of dates becomes; a part that is the same everywhere is left out.

    >>> date_forms(["2024-03-01", "2024-04-05"])
    ['month', 'days since 2024-03-01']
    """
    dates = [when for word in words if (when := as_date(word))]
    parts = [
        part for part in ("year", "month", "weekday") if len({_date_part(str(d), part) for d in dates}) > 1
    ]
    return [*parts, f"{_SINCE}{min(dates).date().isoformat()}"]


def is_since(reads: str) -> bool:
    """Return whether numbers are days since a date."""
    return reads.startswith(_SINCE)


def in_words(reads: Sequence[str]) -> str:
    """Say how a column is read.

    >>> in_words(["unit g/dl"]), in_words(["month", "days since 2024-03-01"])
    ('in g/dl', 'month, days since 2024-03-01')
    """
    if reads[0] == THOUSANDS:
        return "with thousands separators"
    if reads[0].startswith(WORD):
        return f"1 for each of {len(reads)} words that it has"
    return f"in {reads[0].removeprefix(_UNIT)}" if reads[0].startswith(_UNIT) else ", ".join(reads)
