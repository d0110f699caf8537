"""Intervals and comparisons: the values of scipy, and the rates that they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.ledger.intervals import Number, clearly_different


def test_the_interval_over_seeds_is_student_s() -> None:
    values = [1.0, 2.5, 2.0, 3.0]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert Number(values).interval() == pytest.approx(expected)


def test_one_seed_of_a_share_has_wilson_s_interval() -> None:
    expected = stats.binomtest(1, 342).proportion_ci(method="wilson")
    assert Number([100 / 342], items=342).interval() == pytest.approx(
        (100 * expected.low, 100 * expected.high)
    )
    assert Number([1.0]).interval() is None


def test_welch_s_test_is_scipy_s() -> None:
    a, b = [1.0, 1.2, 1.1], [1.3, 1.6]
    assert clearly_different(Number(a), Number(b)) == (stats.ttest_ind(a, b, equal_var=False).pvalue < 0.05)
    assert not clearly_different(Number([1.0]), Number([5.0, 5.1]))


def test_equal_seeds_do_not_make_a_share_exact() -> None:
    """One error of 342 in each of two splits, against none: no difference is told."""
    assert not clearly_different(Number([0.29, 0.29], 342), Number([0.0, 0.0], 342))
