"""Error rates and confusion matrices, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix as theirs

from unknot.errors import SpecError
from unknot.metrics.classification import confusion_matrix, error_rate, standard_error


def test_unknown_items_do_not_count() -> None:
    truth, guess = np.array([2, -1, 0, 1]), np.array([2, 2, 1, 1])
    assert error_rate(truth, guess) == pytest.approx(1 / 3)
    assert confusion_matrix(truth, guess, 3).sum() == 3


def test_the_matrix_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, 5, 200), rng.integers(0, 5, 200)
    np.testing.assert_array_equal(confusion_matrix(truth, guess, 5), theirs(truth, guess, labels=range(5)))
    assert error_rate(truth, guess) == pytest.approx(1 - np.trace(theirs(truth, guess)) / 200)


def test_the_standard_error_is_the_spread_of_measured_errors() -> None:
    rng = np.random.default_rng(0)
    measured = (
        rng.binomial(400, 0.1, 20000) / 400
    )  # the spread of 20000 has a relative error of half a per cent
    assert standard_error(0.1, 400) == pytest.approx(measured.std(), rel=0.025)  # 5 standard errors
    assert standard_error(0.0, 0) == 0.0


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
