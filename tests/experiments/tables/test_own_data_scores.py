"""Splits that leave test rows alone, and scores against plain sums."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.tables.own_data_baselines import class_scores, number_scores, split

Y = np.array([0] * 150 + [1] * 40 + [2] * 10)


@pytest.mark.parametrize("balanced", [False, True])
def test_a_split_has_every_row_once(balanced: bool) -> None:
    labeled, more, test = split(Y, 3, 30, seed=4, balanced=balanced)
    assert sorted([*labeled, *more, *test]) == list(range(200))
    assert (len(labeled), len(test)) == (30, 60)


def test_labels_as_they_come_have_two_of_each_class_and_balanced_ones_the_same() -> None:
    for seed in range(20):
        natural = np.bincount(Y[split(Y, 3, 30, seed, balanced=False)[0]], minlength=3)
        assert natural.min() >= 2
        assert natural[0] > 15
        even = np.bincount(Y[split(Y, 3, 12, seed, balanced=True)[0]], minlength=3)
        assert even[0] == even[1] >= 4


def test_the_same_test_rows_for_both_kinds_of_split() -> None:
    one, other = (split(Y, 3, 30, 1, balanced=b)[2] for b in (False, True))
    np.testing.assert_array_equal(one, other)


def test_scores_are_plain_means() -> None:
    said = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    found = class_scores(said, np.array([0, 1, 1]))
    assert found["accuracy"] == pytest.approx(200 / 3)
    assert found["log_loss"] == pytest.approx(-(math.log(0.9) + math.log(0.4) + math.log(0.8)) / 3)
    assert found["calibration"] == pytest.approx((0.1 + 0.6 + 0.2) / 3)
    assert number_scores(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))["accuracy"] == pytest.approx(
        100 * (1 - 1 / (14 / 3))
    )
