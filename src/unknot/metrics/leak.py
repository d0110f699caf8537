"""Leak: how much of a factor is left in codes that should not hold it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unknot.metrics.probes import (
    chance_error,
    is_numbers,
    linear_probe_error,
    neighbor_probe_error,
    network_probe_error,
)


@dataclass(frozen=True)
class Leak:
    """Errors of three probes on ``items`` other items, beside the error without any code (``chance``)."""

    linear: float
    neighbors: float
    network: float
    chance: float
    items: int

    @property
    def carried(self) -> float:
        """``1 - error / chance`` of the best probe, from 0 (nothing is there) to 1 (all of the factor is)."""
        best = min(self.linear, self.neighbors, self.network)
        return max(0.0, 1 - best / self.chance) if self.chance else 0.0


def leak(codes: np.ndarray, truth: np.ndarray, test_codes: np.ndarray, test_truth: np.ndarray) -> Leak:
    """What a linear probe, five neighbors and a small network read of a factor (:mod:`unknot.metrics.probes`).

    >>> rng = np.random.default_rng(0)
    >>> digit, noise = rng.integers(0, 2, 400), rng.normal(size=(400, 3))
    >>> leak(noise[:200] + digit[:200, None] * 9, digit[:200], noise[200:] + digit[200:, None] * 9, digit[200:]).carried
    1.0
    """
    sets = (codes, truth, test_codes, test_truth)
    rows = test_truth.reshape(len(test_truth), -1)
    known = ~np.isnan(rows).any(1) if is_numbers(test_truth) else test_truth >= 0
    return Leak(
        linear_probe_error(*sets),
        neighbor_probe_error(*sets),
        network_probe_error(*sets),
        chance_error(truth, test_truth),
        int(known.sum()),
    )
