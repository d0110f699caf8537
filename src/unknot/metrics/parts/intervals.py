"""Intervals by half-samples: how far a score would move with other items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def half_samples(rows: int, resamples: int, seed: int | None) -> Iterator[np.ndarray]:
    """Row numbers of random halves, without replacement."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield rng.permutation(rows)[: rows // 2]


def interval(value: float, halves: np.ndarray, level: float) -> tuple[float, float]:
    """``value ± t s``: s is the standard deviation over half-samples, t Student's quantile for their number.

    A score that is a smooth function of means has, over halves of N items drawn without replacement, the variance
    ``σ²/(N/2) · (1 - 1/2) = σ²/N``: that of the score itself over new items. The usual bootstrap draws items twice,
    which invents information, breaks estimates by neighbors, and puts the same item on both sides of a test; a half
    has no item twice. The halves' own bias cancels, since only their spread is used; a bias of the score stays.

    >>> interval(0.5, np.array([0.4, 0.6, 0.5]), 0.95)
    (0.0697..., 0.9302...)
    """
    from scipy.special import stdtrit

    kept = halves[np.isfinite(halves)]
    if len(kept) < 2:
        return float("nan"), float("nan")
    reach = float(stdtrit(len(kept) - 1, (1 + level) / 2) * kept.std(ddof=1))
    return value - reach, value + reach
