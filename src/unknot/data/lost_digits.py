"""Numbers that differ only in digits that single precision, in which models compute, does not keep."""

from __future__ import annotations

import numpy as np

# Numbers that are less apart, in parts of the largest: single precision tells some 150 of them from each other.
_LEAST = 1e-5


def lost_digits(numbers: np.ndarray) -> np.ndarray:
    """For each column of ``(N, C)``, or for ``(N,)``, whether its numbers are so near to each other; NaN is no number.

    >>> lost_digits(np.array([[1e12, 2008.0, 5.0], [1e12 + 1, 2009.0, 5.0]])).tolist()
    [True, False, False]
    """
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = np.fmin.reduce(numbers, 0, initial=np.inf), np.fmax.reduce(numbers, 0, initial=-np.inf)
        return np.asarray((low < high) & (high - low < _LEAST * np.maximum(np.abs(low), np.abs(high))))


def sentence(where: str) -> str:
    """What is said of such numbers."""
    return (
        f"{where}: its numbers differ in digits beyond the fifth alone, most of which are lost in single precision; "
        "take away what they have in common, the smallest for instance."
    )
