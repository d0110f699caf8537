"""fit_linear: the models of scikit-learn, a penalty that is chosen without the hidden labels, sparse like dense."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from unknot.models.predictor import linear
from unknot.models.predictor.linear import fit_linear
from unknot.models.predictor.targets import Targets, deal

N = 40


def classes(columns: int, count: int = 3) -> tuple[np.ndarray, Targets]:
    draw = np.random.default_rng(0)
    y = draw.integers(0, count, N)
    x = draw.normal(size=(N, columns)) + 2 * np.eye(count, columns)[y]
    return x.astype(np.float32), deal(y, count)


def numbers(columns: int) -> tuple[np.ndarray, Targets]:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(N, columns)).astype(np.float32)
    y = x[:, :1] * 3 + 10 + draw.normal(size=(N, 2))
    return x, deal(y, 2)


def unit(x: np.ndarray) -> float:
    """The factor to a total variance of 10."""
    return float(np.sqrt(10 / np.square(x - x.mean(0)).mean(0).sum()))


@pytest.mark.parametrize("columns", [5, N, 100])
def test_ridge_regression_is_that_of_scikit_learn(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import Ridge

    monkeypatch.setattr(linear, "_GRID", np.array([0.1]))
    x, targets = numbers(columns)
    found = fit_linear(x, targets).member(torch.from_numpy(x)).numpy()
    asked = Ridge(alpha=10.0).fit(x * unit(x), targets.values).predict(x * unit(x))
    np.testing.assert_allclose(found, asked, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("columns", [5, N, 100])
def test_logistic_regression_is_that_of_scikit_learn(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(linear, "_GRID", np.array([0.1]))
    x, targets = classes(columns)
    found = fit_linear(x, targets).member(torch.from_numpy(x)).numpy()
    asked = LogisticRegression(C=0.1, tol=1e-6).fit(x * unit(x), targets.values).predict_proba(x * unit(x))
    np.testing.assert_allclose(found, asked, atol=5e-3)


@pytest.mark.parametrize("columns", [5, 100])
def test_sparse_features_give_the_same_model(columns: int) -> None:
    x, targets = classes(columns)
    x[np.abs(x) < 0.5] = 0
    one, other = fit_linear(x, targets), fit_linear(csr_matrix(x), targets)
    np.testing.assert_allclose(one.out_of_fold, other.out_of_fold, atol=2e-3)
    rows = torch.from_numpy(x)
    torch.testing.assert_close(one.member(rows), other.member(rows.to_sparse()), atol=2e-3, rtol=0)


@pytest.mark.parametrize("make", [classes, numbers])
def test_labels_of_a_fold_do_not_change_its_predictions(make) -> None:  # type: ignore[no-untyped-def]
    x, targets = make(6)
    hidden = targets.fold == 2
    values = targets.values.copy()
    values[hidden] = values[hidden][::-1] if values.ndim == 2 else (values[hidden] + 1) % targets.outputs
    changed = Targets(values, targets.outputs, targets.fold, targets.folds)
    one, other = fit_linear(x, targets), fit_linear(x, changed)
    np.testing.assert_allclose(one.out_of_fold[hidden], other.out_of_fold[hidden], atol=1e-6)
    assert not np.allclose(one.out_of_fold[~hidden], other.out_of_fold[~hidden])


def test_a_class_without_labels_has_a_small_probability() -> None:
    x, targets = classes(4, count=3)
    lonely = Targets(targets.values, 4, targets.fold, targets.folds)
    shares = fit_linear(x, lonely).member(torch.from_numpy(x))
    assert 0 < float(shares[:, 3].mean()) < 0.1
    torch.testing.assert_close(shares.sum(1), torch.ones(N))


def test_features_without_any_spread_give_class_shares() -> None:
    _, targets = classes(4)
    shares = fit_linear(np.ones((N, 4), np.float32), targets).member(torch.ones(1, 4))
    np.testing.assert_allclose(shares[0], np.bincount(targets.values) / N, atol=0.02)
