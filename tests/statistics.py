"""Checks of random results. All share one failure rate: the chance that a right program fails a check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from scipy.stats import chisquare, kstest
from torch import Tensor

FAILURE_RATE = 5.7e-7  # five standard errors, two-sided
"""With fixed seeds a check fails always or never; the rate says how likely a new seed is to need another look."""


def standard_errors(comparisons: int = 1) -> float:
    """How many standard errors a mean may be off when ``comparisons`` of them share the failure rate."""
    return NormalDist().inv_cdf(1 - FAILURE_RATE / (2 * comparisons))


def assert_mean(samples: Tensor, expected: Tensor, rounding: float = 1e-6) -> None:
    """The mean of independent ``samples`` (first axis) is ``expected``, component by component."""
    count = samples.shape[0]
    samples = samples.double().reshape(count, -1)
    error = samples.std(0) / count**0.5
    off = (samples.mean(0) - expected.double().reshape(-1)).abs()
    allowed = standard_errors(off.numel()) * error + rounding
    assert bool((off <= allowed).all()), (
        f"mean {samples.mean(0).tolist()} is not {expected.reshape(-1).tolist()}: "
        f"off by {(off / error.clamp_min(1e-12)).tolist()} standard errors"
    )


def assert_frequencies(counts: Sequence[int] | Tensor, probabilities: Tensor) -> None:
    """Counts of outcomes fit their probabilities (chi-square)."""
    observed = np.asarray(counts, dtype=float)
    expected = np.asarray(probabilities, dtype=float)
    expected = expected / expected.sum() * observed.sum()
    assert expected.min() > 5, "too few expected counts for a chi-square test"
    assert chisquare(observed, expected).pvalue > FAILURE_RATE, f"{observed} does not fit {expected}"


def assert_distribution(samples: Tensor, cdf: Callable[[np.ndarray], np.ndarray]) -> None:
    """Samples of one number fit a distribution function (Kolmogorov-Smirnov)."""
    assert kstest(samples.detach().double().numpy(), cdf).pvalue > FAILURE_RATE
