"""Distances between numbers and between directions."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.errors import SpecError
from unknot.metrics.prediction_error import angles, squared_errors


def test_only_known_items_count() -> None:
    truth = np.array([[0.0, 3.0], [np.nan, np.nan], [1.0, 1.0]])
    guess = np.array([[0.0, 0.0], [9.0, 9.0], [1.0, 0.0]])
    assert squared_errors(truth, guess).tolist() == [4.5, 0.5]


def test_angles_do_not_depend_on_lengths() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(50, 3))
    np.testing.assert_allclose(angles(truth, 7 * truth), 0, atol=1e-5)
    np.testing.assert_allclose(angles(truth, -truth), 180)
    turned = np.stack([-truth[:, 1], truth[:, 0], np.zeros(50)], 1)
    np.testing.assert_allclose(angles(truth * [1, 1, 0], turned), 90)
    truth[3] = np.nan
    assert angles(truth, turned).shape == (49,)


def test_what_has_no_answer_is_refused() -> None:
    nothing = np.full((3, 2), np.nan)
    with pytest.raises(SpecError, match="squared_errors: expected known values, but all 3 items are NaN"):
        squared_errors(nothing, np.zeros((3, 2)))
    with pytest.raises(SpecError, match="angles: expected known values"):
        angles(nothing, np.ones((3, 2)))
    directions = np.array([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(SpecError, match="the truth of item 1 is a zero vector"):
        angles(directions, np.ones((2, 2)))
    with pytest.raises(SpecError, match="the guess of item 1 is a zero vector"):
        angles(np.ones((2, 2)), directions)
    assert angles(np.array([[1.0, 0.0], [np.nan, 0.0]]), directions).tolist() == [0.0]
