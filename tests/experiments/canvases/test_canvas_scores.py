"""Scores of canvases: a model that finds what is there has all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from experiments.canvases.canvas_fit import canvases
from experiments.canvases.canvas_scores import found_by, scores, truth_of
from unknot.data.dataset import Dataset
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
