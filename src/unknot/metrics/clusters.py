"""Classes found without labels against the true ones: accuracy, NMI and adjusted Rand index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Discrete, prepare
from unknot.metrics.parts.information import counts
from unknot.metrics.parts.result import Score, named


def class_accuracy(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """Share of items in the class that their cluster is matched with, one to one and as well as possible.

    The matching is the Hungarian one; clusters beyond the number of classes match nothing. It is chosen on the same
    items, so chance is above 1/K. For each discrete factor the best discrete code counts.

    >>> class_accuracy([1, 1, 0, 0, 0, 2, 0, 0], [0, 0, 1, 1, 1, 1, 1, 1]).value
    0.875
    """
    return _best("class_accuracy", _accuracy, (codes, factors, discrete, discrete_factors, seed, protocol))


def nmi(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """``I(c; y) / ((H(c) + H(y)) / 2)``, by scikit-learn; for each discrete factor the best discrete code counts."""

    def score(code: np.ndarray, factor: np.ndarray) -> float:
        from sklearn.metrics import normalized_mutual_info_score

        return float(normalized_mutual_info_score(factor, code))

    return _best("nmi", score, (codes, factors, discrete, discrete_factors, seed, protocol))


def ari(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """The adjusted Rand index, by scikit-learn: 0 is chance; for each discrete factor the best discrete code counts."""

    def score(code: np.ndarray, factor: np.ndarray) -> float:
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(factor, code))

    return _best("ari", score, (codes, factors, discrete, discrete_factors, seed, protocol))


def _best(name: str, score: Callable[[np.ndarray, np.ndarray], float], arguments: tuple[Any, ...]) -> Score:
    """The score of every discrete code and factor, and of each factor's best code."""
    given = prepare(name, *arguments)
    codes, factors = given.codes.only(given.codes.discrete), given.factors.only(given.factors.discrete)
    if not codes.names or not factors.names:
        missing = "code" if not codes.names else "factor"
        raise DataError(
            f"{name} compares categories, and no {missing} is discrete: say which with `discrete`."
        )
    matrix = np.array(
        [[score(c.astype(int), v.astype(int)) for v in factors.values.T] for c in codes.values.T]
    )
    best = matrix.max(0)
    return Score(value=float(best.mean()), by_factor=named(factors.names, best), matrix=matrix, **given.said)


def _accuracy(code: np.ndarray, factor: np.ndarray) -> float:
    from scipy.optimize import linear_sum_assignment

    table = counts(code, int(code.max()) + 1, factor, int(factor.max()) + 1)
    return float(table[linear_sum_assignment(-table)].sum() / len(code))
