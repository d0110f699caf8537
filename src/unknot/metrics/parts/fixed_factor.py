"""Items that share the value of one factor, drawn from arrays: what other libraries ask a simulator for."""

from __future__ import annotations

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.bins import categories
from unknot.metrics.parts.columns import Columns


class FixedFactor:
    """For each factor the rows by its value; a continuous factor is cut into groups of equal mass.

    A value is drawn as often as it occurs, and rows with it with replacement; the other factors vary as they do in
    the data. A value that one row alone has cannot be held fixed and is never drawn.
    """

    def __init__(self, factors: Columns, groups: int) -> None:
        index, sizes = categories(factors, groups, mass=True)
        self.factors = index.shape[1]
        self.order = index.argsort(0, kind="stable")  # (N, K): rows sorted by the factor's value
        counts = [np.bincount(column, minlength=size) for column, size in zip(index.T, sizes, strict=True)]
        self.count = np.stack([c[column] for c, column in zip(counts, index.T, strict=True)], 1)  # (N, K)
        first = [np.cumsum(c) - c for c in counts]
        self.first = np.stack([f[column] for f, column in zip(first, index.T, strict=True)], 1)
        self.eligible = [np.flatnonzero(column > 1) for column in self.count.T]
        for name, rows in zip(factors.names, self.eligible, strict=True):
            if not len(rows):
                raise DataError(
                    f"No two rows share a value of {name}, so it cannot be held fixed: say that it is not "
                    "discrete, or bring more rows."
                )

    def draw_factors(self, rng: np.random.Generator, votes: int) -> np.ndarray:
        """The factor that each vote holds fixed."""
        return rng.integers(0, self.factors, votes)

    def draw_rows(self, rng: np.random.Generator, factor: int, shape: tuple[int, ...]) -> np.ndarray:
        """Rows at random, of those whose value others share."""
        return rng.choice(self.eligible[factor], shape)

    def alike(self, rng: np.random.Generator, factor: int, rows: np.ndarray, batch: int) -> np.ndarray:
        """For each row of ``rows`` ``(V,)``, ``batch`` rows with its value: ``(V, batch)``."""
        count, first = self.count[rows, factor], self.first[rows, factor]
        place = rng.integers(0, count[:, None], (len(rows), batch))
        return self.order[first[:, None] + place, factor]

    def partners(self, rng: np.random.Generator, factor: int, rows: np.ndarray) -> np.ndarray:
        """For each row another one with the same value; same shape."""
        count, first = self.count[rows, factor], self.first[rows, factor]
        other = self.order[first + rng.integers(0, count - 1), factor]
        last = self.order[first + count - 1, factor]
        return np.where(other == rows, last, other)  # the row itself gives its place to the last
