"""Scores of canvases: a model that finds what is there has all of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from experiments.canvases.canvas_fit import canvases, fitted_canvas, labeled
from experiments.canvases.canvas_scores import (
    CAPTIONS,
    draw_canvases,
    found_by,
    matched_distance,
    scores,
    set_accuracy,
    truth_of,
)
from experiments.canvases.multi_mnist import cases
from unknot.data.dataset import Dataset
from unknot.errors import DataError
from unknot.workflow.prediction import Prediction


@dataclass(frozen=True)
class Oracle:
    """Reads the labels, but for a count, a digit and a shift of one place."""

    data: Dataset
    count_less: int = 0
    digit_more: int = 0
    shift: float = 0.0

    def predict(self, x: Tensor) -> Prediction:
        said = {"count": one_hot(self.data.factor("count").values - self.count_less, 5).float()}
        for k in (1, 2, 3):
            digit = self.data.factor(f"digit_{k}").values.clamp(min=0)
            said[f"digit_{k}"] = one_hot((digit + self.digit_more) % 10, 10).float()
            said[f"place_{k}"] = self.data.factor(f"place_{k}").values.nan_to_num() + self.shift
        return Prediction(said, {})


def test_an_oracle_is_right_and_mistakes_cost_what_they_should() -> None:
    data = canvases("digits", n=60)
    assert scores(Oracle(data), data) == {"count": 100, "sets": 100, "place": 0}  # type: ignore[arg-type]
    less = scores(Oracle(data, count_less=1), data)  # type: ignore[arg-type]
    assert (less["count"], less["sets"]) == (0, 0)
    wrong = scores(Oracle(data, digit_more=1), data)  # type: ignore[arg-type]
    assert (wrong["count"], wrong["sets"], wrong["place"]) == (100, 0, 0)
    shifted = scores(Oracle(data, shift=0.01), data)["place"]  # type: ignore[arg-type]
    np.testing.assert_allclose(shifted, 0.01 * 10 * 2**0.5, rtol=1e-4)  # canvases of 20 pixels


def test_slots_beyond_the_count_hold_nothing() -> None:
    data = canvases("digits", n=60)
    found, truth = found_by(Oracle(data), data.batch(range(60)).x), truth_of(data)  # type: ignore[arg-type]
    assert np.array_equal(found.digit, truth.digit)
    assert np.array_equal(np.isnan(found.place), np.isnan(truth.place))
    assert torch.equal(torch.as_tensor(found.count), data.factor("count").values)


# ---- Sets of things: any order, surplus and missing things, matching against every permutation -----------


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


# ---- The picture of canvases, their reconstructions and their parts --------------------------------------


def test_it_is_drawn(tmp_path: Path) -> None:
    data = canvases("digits", n=60)
    model = fitted_canvas(labeled(data.split("train"), 20, seed=0), cases("smoke")[0], seed=0)
    draw_canvases(model, data.split("test"), tmp_path / "canvases.png")
    assert (tmp_path / "canvases.png").stat().st_size > 5000
    assert "canvases" in CAPTIONS
