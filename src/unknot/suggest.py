"""The one "did you mean": what a misspelt name was probably meant to be, and what there is instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: object, words: Iterable[object]) -> str | None:
    """The word most like the one given, or None if none is.

    >>> nearest("digti", ["digit", "style"])
    'digit'
    """
    found = difflib.get_close_matches(str(word), [str(one) for one in words], n=1)
    return found[0] if found else None


def did_you_mean(word: object, words: Iterable[object]) -> str:
    """The end of a sentence that refuses a word: the nearest one, if there is, and all that there are.

    >>> did_you_mean("digti", ["digit", "style"])
    "did you mean 'digit'? There are: digit, style."
    >>> did_you_mean("color", ["digit", "style"])
    'there are: digit, style.'
    """
    listed = [str(one) for one in words]
    near = nearest(word, listed)
    there = f"here are: {', '.join(listed)}." if listed else "here are none."
    return f"t{there}" if near is None else f"did you mean '{near}'? T{there}"
