"""Every method answers for all classes, those without a label too."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.tables.own_data_baselines import (
    CLASS_METHODS,
    NUMBER_METHODS,
    Task,
    linear,
    linear_after_regression,
)

DRAW = np.random.default_rng(0)
Y = np.arange(60) % 2
X = DRAW.standard_normal((60, 4)) + 3 * Y[:, None]
X[5, 1] = np.nan
QUICK = [name for name in CLASS_METHODS if name not in ("ours", "labels alone", "boosting", "forest")]


@pytest.mark.parametrize("name", QUICK)
def test_probabilities_of_all_classes(name: str) -> None:
    said = CLASS_METHODS[name](Task(X[:20], Y[:20], X[20:40], X[40:], 3, 0))
    assert said.shape == (20, 3)
    np.testing.assert_allclose(said.sum(1), 1)
    assert (said.argmax(1) == Y[40:]).mean() > 0.9
    assert said[:, 2].max() < 0.01


def test_ours_answers_in_the_same_form() -> None:
    said = CLASS_METHODS["ours"](Task(X[:20], Y[:20], X[20:40], X[40:], 3, 0, steps=20))
    assert said.shape == (20, 3)
    numbers = NUMBER_METHODS["ours"](Task(X[:20], X[:20, 0], X[20:40], X[40:], 0, 0, steps=20))
    assert np.corrcoef(numbers, X[40:, 0])[0, 1] > 0.8


def test_a_gap_filled_by_regression_is_better_than_the_mean_where_columns_go_together() -> None:
    one = np.random.default_rng(1).standard_normal(400)
    x = np.stack([one, one], 1) + 0.1 * np.random.default_rng(2).standard_normal((400, 2))
    y = (one > 0).astype(int)
    missing = np.random.default_rng(3).integers(0, 2, 400)  # one of the two, always
    x[np.arange(400), missing] = np.nan
    x[100:200] = np.stack([one, one], 1)[100:200]  # but for unlabeled rows, which show how they go together
    task = Task(x[:100], y[:100], x[100:200], x[200:], 2, 0)
    right = [(method(task).argmax(1) == y[200:]).mean() for method in (linear_after_regression, linear)]
    assert right[0] > 0.9
    assert right[0] >= right[1]


def test_a_line_through_far_rows_is_found_as_ridge_regression_finds_it() -> None:
    draw = np.random.default_rng(0)
    x = np.column_stack([draw.standard_normal((220, 3)), 3 * draw.standard_t(2, 220)])
    x[:, 2] = np.exp(2 * x[:, 2])  # sizes, of which a few are very large and say nothing
    y = x[:, 0] - x[:, 1] + x[:, 3] + 0.1 * draw.standard_normal(220)
    order = np.abs(x[:, 3]).argsort()
    few, more, test = order[:180:6], order[1::2], order[2::2]  # no label has a far row
    task = Task(x[few], y[few], x[more], x[test], 0, 0)
    spread = ((y[test] - y[test].mean()) ** 2).sum()
    explained = {
        name: 1 - ((NUMBER_METHODS[name](task) - y[test]) ** 2).sum() / spread for name in ("ours", "linear")
    }
    assert explained["linear"] > 0.98
    assert explained["ours"] > explained["linear"] - 0.02
