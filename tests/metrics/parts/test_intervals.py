"""Intervals by half-samples: they hold the truth as often as they say."""

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.statistics import FAILURE_RATE
from unknot.metrics import class_accuracy, table
from unknot.metrics.prediction_error import half_samples, interval


def test_halves_have_no_item_twice() -> None:
    for rows in half_samples(101, 5, 0):
        assert len(rows) == len(set(rows.tolist())) == 50


def test_spread_of_a_mean() -> None:
    """Over halves a mean moves as it would over new items."""
    x = np.random.default_rng(0).normal(size=400)
    means = np.array([x[rows].mean() for rows in half_samples(400, 4000, 1)])
    assert means.std() == pytest.approx(x.std(ddof=1) / 20, rel=0.05)


def test_no_interval_from_one() -> None:
    assert np.isnan(interval(0.5, np.array([0.4]), 0.95)).all()
    assert interval(0.5, np.array([0.4, np.nan, 0.4]), 0.95) == (0.5, 0.5)


def test_coverage_of_an_accuracy() -> None:
    """Clusters that are right with probability .8: 80 tables of 400 items, 95 % intervals from 8 halves."""
    rng = np.random.default_rng(0)
    inside = 0
    for seed in range(80):
        classes = rng.integers(0, 3, 400)
        clusters = np.where(rng.random(400) < 0.7, classes, rng.integers(0, 3, 400))
        row = table(clusters, classes, only=["class_accuracy"], seed=seed).rows[0]
        inside += row.low <= 0.8 <= row.high
    assert binomtest(inside, 80, 0.95).pvalue > FAILURE_RATE
    assert class_accuracy(clusters, classes).value == row.value
