"""The matrix for models: indicators, standardized columns, parts of rows."""

import numpy as np
import pytest

from unknot.metrics.parts.columns import read_columns
from unknot.metrics.parts.predictors import one_hot, split, standardize, whole_or_split


def test_indicators_know_their_code() -> None:
    x, owner = one_hot(
        read_columns({"z": [1.5, 2.5, 3.5, 4.5, 0.0, 0.0], "c": [0, 2, 1, 2, 1, 0]}, None, "codes")
    )
    assert owner.tolist() == [0, 1, 1, 1]
    assert x[1].tolist() == [2.5, 0, 0, 1]


def test_standardised_by_the_first() -> None:
    rng = np.random.default_rng(0)
    a, b = 3 + 2 * rng.normal(size=(500, 2)), 3 + 2 * rng.normal(size=(500, 2))
    a[:, 1] = 7
    x, y = standardize(a, b)
    assert x[:, 0].mean() == pytest.approx(0)
    assert x[:, 0].std() == pytest.approx(1)
    assert (x[:, 1] == 0).all()
    assert abs(y[:, 0].mean()) > 1e-6


def test_parts_are_apart_and_whole() -> None:
    parts = split(100, (0.8, 0.1, 0.1), 0)
    assert [len(part) for part in parts] == [80, 10, 10]
    assert sorted(np.concatenate(parts).tolist()) == list(range(100))
    train, test = whole_or_split(9, 2 / 3, 0)
    assert (len(train), len(test)) == (6, 3)
    assert not set(train) & set(test)
    train, test = whole_or_split(9, 1.0, 0)
    assert train.tolist() == test.tolist() == list(range(9))
