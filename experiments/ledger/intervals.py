"""Intervals of a number over seeds, and comparisons that take them into account."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

LEVEL = 0.95  # of all intervals; a difference is clear where Welch's test has p < 1 - LEVEL


@dataclass(frozen=True)
class Number:
    """The values of a measure by seed.

    ``items``: the number of test items where the measure is a share of them in per cent, else 0.
    """

    values: Sequence[float]
    items: int = 0

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def seeds(self) -> int:
        return len(self.values)

    @property
    def variance(self) -> float:
        """The variance between seeds, at least that of a share of ``items``."""
        between = stdev(self.values) ** 2 if self.seeds > 1 else 0.0
        share = self.mean / 100
        return max(between, 1e4 * share * (1 - share) / self.items if self.items else 0.0)

    def interval(self) -> tuple[float, float] | None:
        """Return the t interval over seeds, Wilson's for one seed or equal seeds of a share, or None.

        >>> Number([0.29], items=342).interval()  # one error of 342
        (0.05..., 1.6...)
        >>> Number([1.0, 2.0, 3.0]).interval()
        (-0.48..., 4.48...)
        """
        from scipy.stats import norm, t

        if self.seeds > 1 and (stdev(self.values) > 0 or not self.items):
            half = float(t.ppf((1 + LEVEL) / 2, self.seeds - 1)) * stdev(self.values) / math.sqrt(self.seeds)
            return self.mean - half, self.mean + half
        return _wilson(self.mean / 100, self.items, float(norm.ppf((1 + LEVEL) / 2))) if self.items else None


def clearly_different(a: Number, b: Number) -> bool:
    """Return whether Welch's test tells two numbers apart; False with fewer than two seeds on a side.

    >>> clearly_different(Number([0.9, 1.0, 0.95]), Number([1.28, 1.30]))
    True
    >>> clearly_different(Number([0.9]), Number([5.0, 5.1]))
    False
    """
    from scipy.stats import t

    if min(a.seeds, b.seeds) < 2:
        return False
    parts = [(one.variance / one.seeds, one.seeds - 1) for one in (a, b)]
    total = sum(variance for variance, _ in parts)
    if total == 0:
        return a.mean != b.mean
    freedom = total**2 / sum(variance**2 / seeds for variance, seeds in parts)
    return bool(2 * t.sf(abs(a.mean - b.mean) / math.sqrt(total), freedom) < 1 - LEVEL)


def _wilson(share: float, items: int, z: float) -> tuple[float, float]:
    middle = (share + z * z / (2 * items)) / (1 + z * z / items)
    half = z / (1 + z * z / items) * math.sqrt(share * (1 - share) / items + (z / (2 * items)) ** 2)
    return 100 * (middle - half), 100 * (middle + half)
