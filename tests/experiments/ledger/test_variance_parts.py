"""Variance components: an exact case, laws, a twin, unbiasedness and coverage with an error rate."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, f_oneway

from experiments.ledger.variance_parts import variance_parts
from tests.statistics import FAILURE_RATE, assert_mean

UNEVEN = [[1.0, 2.0, 4.0], [3.0], [8.0, 9.0], [5.0, 5.5, 7.0, 6.0]]


def test_an_exact_case() -> None:
    """MS_w = 2, MS_b = 2 · (25 + 25) = 100, n₀ = 2: variances 2 and (100 - 2) / 2."""
    found = variance_parts([[0.0, 2.0], [10.0, 12.0]])
    assert (found.seed, found.setting) == (2.0, 49.0)
    assert found.seed_share == pytest.approx(2 / 51)


def test_the_ratio_of_mean_squares_is_scipys() -> None:
    found = variance_parts(UNEVEN)
    numbers = [len(group) for group in UNEVEN]
    seeds = (sum(numbers) - sum(n * n for n in numbers) / sum(numbers)) / (len(UNEVEN) - 1)
    assert 1 + seeds * found.setting / found.seed == pytest.approx(f_oneway(*UNEVEN).statistic)


def test_shift_order_and_scale() -> None:
    found = variance_parts(UNEVEN)
    moved = variance_parts([[10 - 3 * value for value in reversed(group)] for group in reversed(UNEVEN)])
    assert moved.seed == pytest.approx(9 * found.seed)
    assert moved.setting == pytest.approx(9 * found.setting)
    assert (moved.low, moved.high) == pytest.approx((found.low, found.high))


def test_what_cannot_be_said_is_not() -> None:
    assert variance_parts([]) is None
    assert variance_parts([[1.0, 2.0]]) is None  # one setting
    assert variance_parts([[1.0], [2.0]]) is None  # no seed twice
    assert variance_parts([[1.0, 1.0], [1.0]]) is None  # no spread at all
    alike = variance_parts([[1.0, 1.0], [2.0, 2.0]])
    assert (alike.seed_share, alike.low, alike.high) == (0.0, 0.0, 0.0)
    assert variance_parts([[0.0, 2.0], [1.0, 1.0]]).seed_share == 1.0  # the means are the same


def test_variances_are_unbiased_and_intervals_cover() -> None:
    """Settings of variance 9 and seeds of variance 4, so that the negative estimates that are cut off are rare."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 3, (1500, 12, 1))
    drawn = centers + rng.normal(0, 2, (1500, 12, 4))
    found = [variance_parts(groups.tolist()) for groups in drawn]
    assert_mean(torch.tensor([[one.seed, one.setting] for one in found]), torch.tensor([4.0, 9.0]))
    inside = sum(one.low <= 4 / 13 <= one.high for one in found)
    assert binomtest(inside, len(found), 0.95).pvalue > FAILURE_RATE
