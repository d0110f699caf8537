"""Explicitness: can a linear classifier read every value of a factor from all codes together."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete, prepare
from unknot.metrics.parts.information import categories
from unknot.metrics.parts.predictors import fit_logistic, one_hot, standardize, whole_or_split
from unknot.metrics.parts.result import Score, named


def explicitness(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """Ridgeway & Mozer 2018: the mean over factors and their values of the area under the ROC curve.

    One logistic regression a factor, on standardized codes. 1/2 is chance; a protocol may rescale it to
    ``2 AUC - 1``. Values that the rows to test on lack are left out. Continuous factors are cut into bins.
    """
    given = prepare("explicitness", codes, factors, discrete, discrete_factors, seed, protocol)
    settings = given.settings
    train, test = whole_or_split(len(given.codes), settings.train_share, seed)
    x, _ = one_hot(given.codes)
    x_train, x_test = standardize(x[train], x[test])
    classes, _ = categories(given.factors, settings.bins)
    areas = []
    for y in classes.T:
        model = fit_logistic(x_train, y[train], settings.penalty, settings.balanced)
        areas.append(_mean_area(model.predict_proba(x_test), y[test], model.classes_))
    found = 2 * np.array(areas) - 1 if settings.rescale else np.array(areas)
    by_factor = named(given.factors.names, found)
    return Score(value=float(found.mean()), by_factor=by_factor, **given.said)


def _mean_area(probability: np.ndarray, y: np.ndarray, values: np.ndarray) -> float:
    """Mean area under the curve, each value against the rest."""
    from sklearn.metrics import roc_auc_score

    areas = [
        roc_auc_score(y == value, column)
        for value, column in zip(values, probability.T, strict=True)
        if 0 < (y == value).sum() < len(y)
    ]
    return float(np.mean(areas)) if areas else 0.5
