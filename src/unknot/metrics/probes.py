"""Probes: how much of a factor simple readers read from codes that should not hold it.

Each learns from codes ``(N, D)`` with the factor's values, and its error is that on other items. A factor of whole
numbers ``(N,)`` is classes, -1 unknown, and the error is the share of wrong ones. A factor of real numbers ``(N,)`` or
``(N, D')``, NaN unknown, has as error the share of its variance that stays unexplained,

    Σ |truth - guess|² / Σ |truth - mean|²,

with the mean of the items learned from: 1 for a probe that names this mean. Codes are standardized with the mean and
spread of the items learned from.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.errors import SpecError
from unknot.metrics.prediction_error import error_rate

NEIGHBORS = 5
HIDDEN = 64  # units of the small network


def linear_probe_error(
    codes: np.ndarray, truth: np.ndarray, test_codes: np.ndarray, test_truth: np.ndarray
) -> float:
    """Error, on the test codes, of a logistic (for numbers a linear) regression.

    If the codes say nothing of the class, the error is that of always naming the commonest one: 0.9 for ten classes of
    one size.
    """
    from sklearn.linear_model import LogisticRegression, Ridge

    probe = Ridge() if is_numbers(truth) else LogisticRegression(max_iter=2000)
    return _error(probe, codes, truth, test_codes, test_truth)


def neighbor_probe_error(
    codes: np.ndarray, truth: np.ndarray, test_codes: np.ndarray, test_truth: np.ndarray
) -> float:
    """Error of the vote (for numbers the mean) of the five nearest codes: finds what no line separates."""
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    count = min(NEIGHBORS, len(codes))
    probe = KNeighborsRegressor(count) if is_numbers(truth) else KNeighborsClassifier(count)
    return _error(probe, codes, truth, test_codes, test_truth)


def network_probe_error(
    codes: np.ndarray, truth: np.ndarray, test_codes: np.ndarray, test_truth: np.ndarray
) -> float:
    """Error of a network with one hidden layer: finds what is folded, in more dimensions than neighbors can."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPRegressor if is_numbers(truth) else MLPClassifier
    probe = kind(
        hidden_layer_sizes=(HIDDEN,), alpha=0.01, learning_rate_init=0.005, max_iter=100, random_state=0
    )
    return _error(probe, codes, truth, test_codes, test_truth)


def chance_error(truth: np.ndarray, test_truth: np.ndarray) -> float:
    """The error without any code: of always naming the commonest class, or the mean (which is 1).

    >>> chance_error(np.array([0, 0, 1]), np.array([0, 1, 2, -1]))
    0.6666666666666666
    """
    if is_numbers(truth):
        return 1.0
    commonest = np.bincount(truth[truth >= 0]).argmax()
    return error_rate(test_truth, np.full(len(test_truth), commonest))


def is_numbers(truth: np.ndarray) -> bool:
    """Whether a factor is real numbers and not classes."""
    return bool(np.issubdtype(truth.dtype, np.floating))


def _error(
    probe: Any, codes: np.ndarray, truth: np.ndarray, test_codes: np.ndarray, test_truth: np.ndarray
) -> float:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if not is_numbers(truth):
        known = truth >= 0
        fitted = _quietly(
            make_pipeline(StandardScaler(), probe), codes[known], truth[known], ConvergenceWarning
        )
        return error_rate(test_truth, fitted.predict(test_codes))
    rows, test_rows = truth.reshape(len(truth), -1), test_truth.reshape(len(test_truth), -1)
    known, asked = ~np.isnan(rows).any(1), ~np.isnan(test_rows).any(1)
    if not asked.any():
        raise SpecError(f"probes: expected known numbers to compare with, but all {len(asked)} are NaN")
    center, spread = (
        rows[known].mean(0),
        rows[known].std() or 1.0,
    )  # one unit for all: variance is summed over them
    fitted = _quietly(
        make_pipeline(StandardScaler(), probe),
        codes[known],
        (rows[known] - center) / spread,
        ConvergenceWarning,
    )
    said = fitted.predict(test_codes[asked]).reshape(-1, rows.shape[1])
    wanted = (test_rows[asked] - center) / spread
    return float(np.sum((wanted - said) ** 2) / np.sum(wanted**2))


def _quietly(probe: Any, codes: np.ndarray, truth: np.ndarray, category: type[Warning]) -> Any:
    """The probe fitted; one that has not settled is a probe all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        # a column of one number is wanted flat
        return probe.fit(codes, truth[:, 0] if truth.ndim == 2 and truth.shape[1] == 1 else truth)


# ---- Leak: how much of a factor is left in codes that should not hold it ---------------------------------


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
