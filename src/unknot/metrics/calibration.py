"""Whether an encoder is right as often as it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BINS = 10


@dataclass(frozen=True)
class Reliability:
    """By bin of the confidence, empty ones left out: its mean, the share that is right, and how many items."""

    sure: np.ndarray
    right: np.ndarray
    items: np.ndarray

    @property
    def error(self) -> float:
        """The expected calibration error, ``Σ_bins share · |mean confidence - share right|``."""
        return float((self.items * np.abs(self.sure - self.right)).sum() / max(self.items.sum(), 1))


def reliability(sure: np.ndarray, right: np.ndarray) -> Reliability:
    """Confidence against truth in ten equal bins: ``sure`` the probability of the best class, ``right`` whether it is.

    >>> found = reliability(np.array([0.9, 0.9, 0.55]), np.array([True, False, True]))
    >>> found.items.tolist(), round(found.error, 3)
    ([1, 2], 0.417)
    """
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    full = counts > 0
    means = [
        np.bincount(bins, weights=values, minlength=BINS)[full] / counts[full] for values in (sure, right)
    ]
    return Reliability(means[0], means[1], counts[full])
