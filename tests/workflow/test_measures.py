"""The table of measures: each against counting by hand, and how numbers are written."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.errors import SpecError
from unknot.models.families import FAMILIES
from unknot.workflow.measures import MEASURES, class_probabilities


def test_probabilities_of_yes_and_no() -> None:
    np.testing.assert_allclose(class_probabilities(np.array([[0.25], [1.0]])), [[0.75, 0.25], [0, 1]])
    same = np.array([[0.2, 0.8]])
    assert class_probabilities(same) is same


def test_each_measure_is_what_counting_gives() -> None:
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    assert MEASURES["error"].of(np.array([0, 0, -1]), shares) == 0.5
    assert MEASURES["root mean square error"].of(np.array([1.0, np.nan]), np.array([[3.0], [9.0]])) == 2.0
    lights = np.array([[0.0, 0.0, 1.0]])
    assert MEASURES["mean angle (degrees)"].of(lights, np.array([[0.0, 1.0, 0.0]])) == pytest.approx(90)


def test_shares_are_written_in_per_cent_with_their_interval() -> None:
    error = MEASURES["error"]
    assert error.text(0.25, (0.2, 0.3)) == "25.00 % (20.0 to 30.0 %)"
    assert MEASURES["mean angle (degrees)"].text(3.0) == "3"
    assert MEASURES["mean angle (degrees)"].text(3.0, (2.5, 3.25)) == "3 (2.5 to 3.25)"


def test_intervals_hold_the_true_number_as_often_as_they_say() -> None:
    """95 % of 2000 samples of 200 items; a coverage measured so has a standard error of half a per cent."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(2000, 200)) ** 2  # squared errors whose mean is 1
    ends = [MEASURES["root mean square error"].interval(one) for one in samples]
    held = np.mean([low < 1 < high for low, high in ends])
    assert held == pytest.approx(0.95, abs=0.03)  # five standard errors, and half a per cent for the skew
    assert MEASURES["root mean square error"].interval(np.array([1.0])) is None
    low, high = MEASURES["error"].interval(np.zeros(30))
    assert low == 0
    assert high == pytest.approx(0.1135, abs=1e-4)


def test_nothing_known_is_refused() -> None:
    with pytest.raises(SpecError, match="none of the 2 is"):
        MEASURES["error"].of(np.array([-1, -1]), np.ones((2, 3)))


def test_every_family_names_a_measure_of_the_table() -> None:
    for family in FAMILIES.values():
        for kind in ("categorical", "continuous", "count", "binary"):
            assert family.measure_for(kind) in MEASURES
