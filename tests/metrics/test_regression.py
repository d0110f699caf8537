"""Distances between numbers and between directions."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.errors import SpecError
from unknot.metrics.regression import mean_angle, root_mean_square_error


def test_only_known_entries_count() -> None:
    truth = np.array([[0.0, 3.0], [np.nan, np.nan], [1.0, 1.0]])
    guess = np.array([[0.0, 0.0], [9.0, 9.0], [1.0, 0.0]])
    assert root_mean_square_error(truth, guess) == pytest.approx(np.sqrt((9 + 1) / 4))


def test_angles_do_not_depend_on_lengths() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(50, 3))
    np.testing.assert_allclose(mean_angle(truth, 7 * truth), 0, atol=1e-5)
    assert mean_angle(truth, -truth) == pytest.approx(180)
    turned = np.stack([-truth[:, 1], truth[:, 0], np.zeros(50)], 1)
    assert mean_angle(truth * [1, 1, 0], turned) == pytest.approx(90)
    truth[3] = np.nan
    assert np.isfinite(mean_angle(truth, turned))


def test_what_has_no_answer_is_refused() -> None:
    nothing = np.full((3, 2), np.nan)
    with pytest.raises(SpecError, match="root_mean_square_error: expected known values, but all 6 are NaN"):
        root_mean_square_error(nothing, np.zeros((3, 2)))
    with pytest.raises(SpecError, match="mean_angle: expected known values"):
        mean_angle(nothing, np.ones((3, 2)))
    directions = np.array([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(SpecError, match="the truth of item 1 is a zero vector"):
        mean_angle(directions, np.ones((2, 2)))
    with pytest.raises(SpecError, match="the guess of item 1 is a zero vector"):
        mean_angle(np.ones((2, 2)), directions)
    assert mean_angle(np.array([[1.0, 0.0], [np.nan, 0.0]]), directions) == 0.0
