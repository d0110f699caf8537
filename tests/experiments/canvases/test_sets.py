"""Sets of things: any order, surplus and missing things, matching against every permutation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from experiments.canvases.sets import matched_distance, set_accuracy
from unknot.errors import DataError


def test_order_does_not_matter_and_numbers_of_each_kind_do() -> None:
    truth = np.array([[1, 1, 2]])
    assert set_accuracy(np.array([[2, 1, 1]]), truth) == 1.0
    assert set_accuracy(np.array([[2, 2, 1]]), truth) == 0.0
    assert set_accuracy(np.array([[1, 2, -1]]), truth) == 0.0
    assert set_accuracy(np.array([[-1, 2, 1, 1]]), truth) == 1.0


def test_an_empty_item_is_right_when_nothing_is_found() -> None:
    nothing = np.full((2, 3), -1)
    assert set_accuracy(nothing, np.array([[-1], [4]])) == 0.5


def test_the_matching_is_the_best_of_all_permutations() -> None:
    draws = np.random.default_rng(0)
    for _ in range(20):
        found, truth = draws.normal(size=(1, 4, 2)), draws.normal(size=(1, 4, 2))
        slow = min(
            np.mean([np.linalg.norm(found[0, i] - truth[0, j]) for i, j in enumerate(order)])
            for order in permutations(range(4))
        )
        assert matched_distance(found, truth) == pytest.approx(slow)


def test_a_surplus_is_left_out_and_nothing_at_all_is_nan() -> None:
    found = np.array([[[0.0, 0.0], [9.0, 9.0]]])
    truth = np.array([[[0.0, 1.0], [np.nan, np.nan]]])
    assert matched_distance(found, truth) == 1.0
    assert np.isnan(matched_distance(found, np.full((1, 2, 2), np.nan)))


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="whole numbers"):
        set_accuracy(np.zeros((2, 2)), np.zeros((2, 2), int))
    with pytest.raises(DataError, match="as many items"):
        set_accuracy(np.zeros((2, 2), int), np.zeros((3, 2), int))
    with pytest.raises(DataError, match="same N and D"):
        matched_distance(np.zeros((2, 2)), np.zeros((2, 2, 2)))
