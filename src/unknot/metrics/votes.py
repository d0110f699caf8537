"""The FactorVAE score: with one factor fixed, is it always the same code that does not move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Columns, Discrete, live_codes, prepare
from unknot.metrics.parts.information import categories
from unknot.metrics.parts.result import Result
from unknot.metrics.protocols import Votes

# Items that share the value of one factor, drawn from arrays: what other libraries ask a simulator for.


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


_CELLS = 4_000_000  # numbers held at once while votes are counted


@dataclass(frozen=True, kw_only=True, repr=False)
class FactorVae(Result):
    """``votes`` ``(codes, factors)`` is the table the classifier was read from; ``live``: codes that took part."""

    value: float
    votes: np.ndarray
    live: int


def factor_vae(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> FactorVae:
    """Kim & Mnih 2018: the accuracy of a majority vote.

    For each vote a factor is fixed, a batch of items with one value of it is drawn, and the code with the smallest
    ``Var_batch(z_j) / Var(z_j)`` is named; a discrete code's variance is Gini's, ``1 - Σ_c p_c²``. Each code then
    stands for the factor it was named for most often, and the score is how often that is right on *other* votes
    (``test=0``: on the same ones, as some do; it flatters). Codes that hardly vary are left out. Chance is 1/K.
    """
    given = prepare("factor_vae", codes, factors, discrete, discrete_factors, seed, protocol)
    value, votes, live = vote(given.codes, given.factors, given.settings, seed)
    return FactorVae(value=value, votes=votes, live=live, **given.said)


def vote(
    codes: Columns, factors: Columns, settings: Votes, seed: int | None
) -> tuple[float, np.ndarray, int]:
    """Accuracy, table of training votes ``(D, K)``, and the number of live codes."""
    live = live_codes(codes, settings.dead_below) & (codes.values.min(0) < codes.values.max(0))
    table = np.zeros((len(codes.names), len(factors.names)), dtype=int)
    if not live.any():
        return 0.0, table, 0
    rng = np.random.default_rng(seed)
    sampler = FixedFactor(factors, settings.groups)
    kept = codes.only(live)
    table[live] = _votes(kept, sampler, settings.batch, settings.train, rng)
    tested = _votes(kept, sampler, settings.batch, settings.test, rng) if settings.test else table[live]
    stands_for = table[live].argmax(1)
    right = tested[np.arange(len(stands_for)), stands_for].sum()
    return float(right / tested.sum()), table, int(live.sum())


def _votes(
    codes: Columns, sampler: FixedFactor, batch: int, votes: int, rng: np.random.Generator
) -> np.ndarray:
    """How often each code ``(D, K)`` moved least while factor k was fixed."""
    table = np.zeros((len(codes.names), sampler.factors), dtype=int)
    overall = _spread(codes, np.arange(len(codes))[None])  # (1, D)
    block = max(1, _CELLS // (batch * len(codes.names)))
    fixed = np.bincount(sampler.draw_factors(rng, votes), minlength=sampler.factors)
    for factor, wanted in enumerate(fixed):
        for start in range(0, wanted, block):
            rows = sampler.draw_rows(rng, factor, (min(block, wanted - start),))
            still = (_spread(codes, sampler.alike(rng, factor, rows, batch)) / overall).argmin(1)
            table[:, factor] += np.bincount(still, minlength=len(table))
    return table


def _spread(codes: Columns, rows: np.ndarray) -> np.ndarray:
    """Variance of every code in every batch: rows ``(V, L)`` to ``(V, D)``."""
    batches, items = rows.shape
    spread = np.empty((batches, len(codes.names)))
    for d, size in enumerate(codes.sizes):
        drawn = codes.values[rows, d]  # (V, L)
        if size:
            cells = drawn.astype(int) + size * np.arange(batches)[:, None]
            share = np.bincount(cells.reshape(-1), minlength=batches * size).reshape(batches, size) / items
            spread[:, d] = (1 - (share**2).sum(1)) * items / (items - 1)
        else:
            spread[:, d] = drawn.var(1, ddof=1)
    return spread
