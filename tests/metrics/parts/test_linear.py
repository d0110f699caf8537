"""Logistic regression: quiet, balanced when asked, and the optimum of its own likelihood."""

import numpy as np
import pytest

from unknot.metrics.parts.predictors import fit_logistic

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = (X[:, 0] + RNG.logistic(size=400) > 1).astype(int)


def test_without_penalty_the_score_equations_hold() -> None:
    model = fit_logistic(X, Y, tolerance=1e-8, iterations=1000)
    rest = Y - model.predict_proba(X)[:, 1]
    assert np.concatenate([X.T @ rest, [rest.sum()]]) == pytest.approx(np.zeros(3), abs=1e-2)


def test_balanced_classes_weigh_the_same() -> None:
    model = fit_logistic(X, Y, balanced=True, tolerance=1e-8, iterations=1000)
    weight = np.where(Y == 1, 1 / (Y == 1).sum(), 1 / (Y == 0).sum())
    assert (weight * (Y - model.predict_proba(X)[:, 1])).sum() == pytest.approx(0, abs=1e-3)


def test_no_warning_when_rounds_end() -> None:
    fit_logistic(X * 1e3, Y, iterations=1)  # warnings are errors here
