"""The FactorVAE score: with one factor fixed, is it always the same code that does not move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Columns, Discrete
from unknot.metrics.parts.fixed_factor import FixedFactor
from unknot.metrics.parts.live import live_codes
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Result
from unknot.metrics.protocols import Votes

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
