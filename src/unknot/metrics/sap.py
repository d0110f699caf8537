"""SAP: how far the code that predicts a factor best, alone and linearly, is ahead of the next one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Columns, Discrete, prepare
from unknot.metrics.parts.information import gap
from unknot.metrics.parts.predictors import one_hot, whole_or_split
from unknot.metrics.parts.result import Score, named
from unknot.metrics.protocols import Linear


def sap(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """Separated attribute predictability (Kumar et al. 2018), ``mean_k S_1k - S_2k``, the two best codes.

    ``S_jk``: for a discrete factor the accuracy of a linear support vector machine on code j alone, on rows that were
    not trained on; for a continuous one the squared correlation. A discrete code enters by its indicators (with a
    continuous factor: the share of variance between its categories). The machine is solved in the primal, which has
    the optimum that disentanglement_lib's unseeded dual solver looks for.
    """
    given = prepare("sap", codes, factors, discrete, discrete_factors, seed, protocol)
    train, test = whole_or_split(len(given.codes), given.settings.train_share, seed)
    scores = np.zeros((len(given.codes.names), len(given.factors.names)))
    for d in range(len(scores)):
        x, _ = one_hot(given.codes.only(np.arange(len(scores)) == d))
        for k, size in enumerate(given.factors.sizes):
            y = given.factors.values[:, k]
            if size:
                scores[d, k] = _accuracy(x[train], y[train], x[test], y[test], given.settings)
            else:
                scores[d, k] = _explained(given.codes, d, y)
    gaps = gap(scores)
    by_factor = named(given.factors.names, gaps)
    return Score(value=float(gaps.mean()), by_factor=by_factor, matrix=scores, **given.said)


def _accuracy(
    x: np.ndarray, y: np.ndarray, x_test: np.ndarray, y_test: np.ndarray, settings: Linear
) -> float:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    if (y == y[0]).all():
        return float(np.mean(y_test == y[0]))
    model = LinearSVC(C=settings.penalty, class_weight="balanced" if settings.balanced else None, dual=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return float(np.mean(model.fit(x, y).predict(x_test) == y_test))


def _explained(codes: Columns, d: int, y: np.ndarray) -> float:
    """Share of the variance of y that a straight line in the code, or the mean by category, explains."""
    z, size = codes.values[:, d], codes.sizes[d]
    if size:
        index = z.astype(int)
        mean = np.bincount(index, y, minlength=size) / np.maximum(np.bincount(index, minlength=size), 1)
        return float(mean[index].var() / y.var())
    if z.var() <= 1e-12:  # disentanglement_lib's limit
        return 0.0
    return float(np.corrcoef(z, y)[0, 1] ** 2)
