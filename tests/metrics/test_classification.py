"""Error rates and confusion matrices, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix as theirs

from unknot.errors import SpecError
from unknot.metrics.prediction_error import confusion_matrix, error_rate, wilson_interval


def test_unknown_items_do_not_count() -> None:
    truth, guess = np.array([2, -1, 0, 1]), np.array([2, 2, 1, 1])
    assert error_rate(truth, guess) == pytest.approx(1 / 3)
    assert confusion_matrix(truth, guess, 3).sum() == 3


def test_the_matrix_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, 5, 200), rng.integers(0, 5, 200)
    np.testing.assert_array_equal(confusion_matrix(truth, guess, 5), theirs(truth, guess, labels=range(5)))
    assert error_rate(truth, guess) == pytest.approx(1 - np.trace(theirs(truth, guess)) / 200)


def test_wilsons_interval_ends_where_the_measured_share_is_z_standard_errors_away() -> None:
    for share, items in [(0.0, 30), (0.1, 400), (0.5, 7), (1.0, 12)]:
        for end in wilson_interval(share, items):
            if 0 < end < 1:
                assert abs(share - end) == pytest.approx(
                    1.959964 * np.sqrt(end * (1 - end) / items), rel=1e-5
                )
    assert wilson_interval(0.3, 0) == (0.0, 1.0)


def test_wilsons_interval_is_scipys() -> None:
    theirs = binomtest(3, 36).proportion_ci(method="wilson")
    assert wilson_interval(3 / 36, 36) == pytest.approx((theirs.low, theirs.high))


def test_items_without_a_name_are_in_no_cell() -> None:
    """A guess of -1 would otherwise be counted one cell to the left, in the row above."""
    truth, guess = np.array([1, 1, 0]), np.array([-1, 1, -1])
    assert confusion_matrix(truth, guess, 2).tolist() == [[0, 0], [0, 1]]
    assert error_rate(truth, guess) == pytest.approx(2 / 3)


def test_what_has_no_answer_is_refused() -> None:
    with pytest.raises(SpecError, match="none of the 2 is"):
        error_rate(np.array([-1, -1]), np.array([0, 1]))
    with pytest.raises(SpecError, match="expected classes 0 to 1, but guess has 2"):
        confusion_matrix(np.array([0, 1]), np.array([0, 2]), 2)
