"""Scores of canvases: how many digits, which, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from experiments.canvases.sets import matched_distance, set_accuracy
from experiments.ledger.experiment import Numbers
from unknot.data.dataset import Dataset
from unknot.workflow.trained_model import TrainedModel


@dataclass(frozen=True)
class Found:
    """What is on N canvases: counts ``(N,)``, digits ``(N, K)`` with -1 and places ``(N, K, 3)`` with NaN beyond."""

    count: np.ndarray
    digit: np.ndarray
    place: np.ndarray


def found_by(model: TrainedModel, x: Tensor) -> Found:
    """What the model finds on canvases ``(N, 1, C, C)``."""
    said = model.predict(x).predictions
    slots = sum(name.startswith("place_") for name in said)
    count = said["count"].argmax(-1)
    nothing = torch.arange(slots) >= count[:, None]  # (N, K)
    digit = torch.stack([said[f"digit_{k + 1}"].argmax(-1) for k in range(slots)], 1)
    place = torch.stack([said[f"place_{k + 1}"] for k in range(slots)], 1)
    return Found(
        count.numpy(),
        digit.masked_fill(nothing, -1).numpy(),
        place.masked_fill(nothing[..., None], torch.nan).numpy(),
    )


def truth_of(data: Dataset) -> Found:
    """What lies on the canvases."""
    slots = range(sum(name.startswith("place_") for name in data.factors))
    digit = torch.stack([data.factor(f"digit_{k + 1}").values for k in slots], 1)
    place = torch.stack([data.factor(f"place_{k + 1}").values for k in slots], 1)
    return Found(data.factor("count").values.numpy(), digit.numpy(), place.numpy())


def scores(model: TrainedModel, data: Dataset) -> Numbers:
    """Right counts and wholly right sets of digits in per cent, and how far matched places are off, in pixels."""
    ours, truth = found_by(model, data.batch(range(len(data))).x), truth_of(data)
    half = data.item_shape[-1] / 2  # places go from -1 to 1
    return {
        "count": 100 * float((ours.count == truth.count).mean()),
        "sets": 100 * set_accuracy(ours.digit, truth.digit),
        "place": matched_distance(ours.place[..., :2] * half, truth.place[..., :2] * half),
    }
