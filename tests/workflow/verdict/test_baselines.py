"""The linear model beside ours: scikit-learn's own, on the labels that were seen and no others."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.preprocessing import StandardScaler

from unknot.data.dataset import Column, Dataset
from unknot.data.from_arrays import from_arrays
from unknot.workflow.verdict.comparison import (
    affordable,
    constant_predictions,
    linear_predictions,
    plain_numbers,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)).astype(np.float32)
CLASSES = (X[:, 0] + 0.5 * RNG.normal(size=120) > 0).astype(int) + (X[:, 1] > 1)
NUMBERS = 3 * X[:, 2] + RNG.normal(size=120)
SEEN = from_arrays(X[:80], {"kind": CLASSES[:80], "size": NUMBERS[:80].astype(np.float32)})
ASKED = from_arrays(X[80:], {"kind": CLASSES[80:], "size": NUMBERS[80:].astype(np.float32)})


def test_classes_are_those_of_scikit_learn_on_standardised_columns() -> None:
    scale = StandardScaler().fit(X[:80])
    theirs = LogisticRegression(max_iter=200).fit(scale.transform(X[:80]), CLASSES[:80])
    found = linear_predictions(SEEN, "kind", 3, ASKED)
    assert found.shape == (40, 3)
    np.testing.assert_array_equal(found.argmax(1), theirs.predict(scale.transform(X[80:])))


def test_numbers_are_those_of_ridge_regression() -> None:
    scale = StandardScaler().fit(X[:80])
    theirs = RidgeCV(np.logspace(-2, 3, 11)).fit(scale.transform(X[:80]), NUMBERS[:80])
    found = linear_predictions(SEEN, "size", 0, ASKED)
    np.testing.assert_allclose(found[:, 0], theirs.predict(scale.transform(X[80:])), rtol=1e-4, atol=1e-4)


def test_cross_fitting_never_sees_the_label_it_is_asked_for() -> None:
    """With more columns than rows a linear model knows every label it saw; labels at random are then all it has."""
    wide = RNG.normal(size=(60, 200)).astype(np.float32)
    data = from_arrays(wide, {"coin": RNG.integers(0, 2, 60)})
    coin = data.factors["coin"].values.numpy()
    assert (linear_predictions(data, "coin", 2, data).argmax(1) == coin).all()
    right = (linear_predictions(data, "coin", 2, None).argmax(1) == coin).mean()
    assert 0.5 - 5 * 0.065 < right < 0.5 + 5 * 0.065  # five standard errors of 60 coins


def test_a_class_with_one_label_leaves_one_class_to_the_fold_without_it() -> None:
    data = from_arrays(X[:20], {"rare": (np.arange(20) == 3).astype(int)})
    found = linear_predictions(data, "rare", 2, None)
    assert found.shape == (20, 2)
    assert found[3].tolist() == [1.0, 0.0]


def test_who_never_looks_says_the_commonest_class_or_the_mean() -> None:
    found = constant_predictions(CLASSES[:80], 3, 40)
    assert found.shape == (40, 3)
    assert (found.argmax(1) == np.bincount(CLASSES[:80]).argmax()).all()
    np.testing.assert_allclose(constant_predictions(NUMBERS[:80], 0, 40), NUMBERS[:80].mean(), rtol=1e-5)


def test_tables_become_numbers_with_gaps_and_classes_apart() -> None:
    table = (Column("age", "real"), Column("blood", "category", ("A", "B", "O")))
    rows = torch.tensor([[1.0, 2.0], [float("nan"), 0.0], [3.0, float("nan")]])
    data = Dataset("t", rows, torch.arange(3), table=table)
    expected = [[1, 0, 0, 1], [np.nan, 1, 0, 0], [3, 0, 0, 0]]
    np.testing.assert_array_equal(plain_numbers(data), expected)


def test_gaps_are_no_obstacle() -> None:
    holes = X.copy()
    holes[::7, 0] = np.nan
    table = tuple(Column(f"c{i}", "real") for i in range(4))
    data = Dataset("t", torch.from_numpy(holes[:80]), torch.arange(80), SEEN.factors, table=table)
    asked = Dataset("t", torch.from_numpy(holes[80:]), torch.arange(40), ASKED.factors, table=table)
    assert np.isfinite(linear_predictions(data, "size", 0, asked)).all()


def test_large_items_get_fewer_labels() -> None:
    assert affordable(60000, 784) == 2551
    assert affordable(100, 10**9) == 100
    assert affordable(50, 10) == 50
