"""The table of measures: each against counting by hand, and how numbers are written."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_shares_are_written_in_per_cent_with_their_standard_error() -> None:
    error = MEASURES["error"]
    assert error.text(0.25, error.spread(0.25, 300)) == "25.00 ± 2.50 %"
    assert MEASURES["mean angle (degrees)"].spread(3.0, 10) is None
    assert MEASURES["mean angle (degrees)"].text(3.0) == "3"


def test_every_family_names_a_measure_of_the_table() -> None:
    for family in FAMILIES.values():
        for kind in ("categorical", "continuous", "count", "binary"):
            assert family.measure_for(kind) in MEASURES
