"""Scores and pictures of canvases: number, classes and positions of the digits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from experiments.ledger.experiment import Numbers
from unknot.data.dataset import Dataset
from unknot.errors import DataError
from unknot.plots.images import boxed_images
from unknot.plots.style import save
from unknot.workflow.pictures import parts, reconstructions
from unknot.workflow.trained_model import TrainedModel

_OF_EACH = 3  # canvases of each count
CAPTIONS = {
    "canvases": (
        "Test canvases with predicted boxes and digits, their reconstructions, and the parts of these. The first of "
        "each count."
    )
}


def draw_canvases(model: TrainedModel, test: Dataset, path: Path) -> None:
    """Draw inputs with boxes, reconstructions and parts of the first canvases of each count."""
    count = test.factor("count").values
    rows = torch.cat([(count == one).nonzero()[:_OF_EACH, 0] for one in count.unique()])
    x = test.batch(rows).x
    found = found_by(model, x)
    digits = parts(model, x)
    assert digits is not None
    drawn = np.concatenate([reconstructions(model, x), digits])  # (2 + K, N, 1, C, C)
    names = ["canvas", "reconstruction", *(f"digit {k + 1}" for k in range(len(digits)))]
    words = [[str(digit) for digit in on_one] for on_one in found.digit]
    save(boxed_images(drawn.clip(0, 1), found.place, words, rows=names), path)


def set_accuracy(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of items whose set of classes is right, in any order.

    ``found`` and ``truth`` are class indices ``(N, K)`` with -1 in empty slots; their K may differ.

    >>> set_accuracy(np.array([[3, 1], [2, -1]]), np.array([[1, 3, -1], [2, 2, -1]]))
    0.5
    """
    found, truth = _slots(found, "found"), _slots(truth, "truth")
    if len(found) != len(truth) or not len(truth):
        raise DataError(
            f"set_accuracy: as many items in found as in truth, got {len(found)} and {len(truth)}."
        )
    named = [
        Counter(ours[ours >= 0].tolist()) == Counter(theirs[theirs >= 0].tolist())
        for ours, theirs in zip(found, truth, strict=True)
    ]
    return float(np.mean(named))


def matched_distance(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean distance between predicted and true positions, matched one to one with the smallest sum.

    ``found`` and ``truth`` are positions ``(N, K, D)`` with NaN in empty slots. Unmatched positions are ignored. NaN if
    there is no pair.

    >>> matched_distance(np.array([[[5.0, 0.0], [0.0, 0.0]]]), np.array([[[0.0, 1.0], [5.0, 0.0]]]))
    0.5
    """
    if found.ndim != 3 or truth.ndim != 3 or len(found) != len(truth) or found.shape[-1] != truth.shape[-1]:
        raise DataError(
            f"matched_distance: found and truth are (N, K, D) with the same N and D, got {found.shape} and "
            f"{truth.shape}."
        )
    distances: list[float] = []
    for ours, theirs in zip(found, truth, strict=True):
        ours, theirs = ours[~np.isnan(ours).any(-1)], theirs[~np.isnan(theirs).any(-1)]
        apart = np.linalg.norm(ours[:, None] - theirs, axis=-1)  # (predicted, true)
        distances += apart[linear_sum_assignment(apart)].tolist()
    return float(np.mean(distances)) if distances else float("nan")


def _slots(classes: np.ndarray, what: str) -> np.ndarray:
    if classes.ndim != 2 or not np.issubdtype(classes.dtype, np.integer):
        raise DataError(f"set_accuracy: {what} is whole numbers (N, K), got {classes.dtype} {classes.shape}.")
    return classes


@dataclass(frozen=True)
class Found:
    """Content of N canvases: counts ``(N,)``, digits ``(N, K)``, places ``(N, K, 3)``; -1 and NaN past the count."""

    count: np.ndarray
    digit: np.ndarray
    place: np.ndarray


def found_by(model: TrainedModel, x: Tensor) -> Found:
    """Return the predictions of the model for canvases ``(N, 1, C, C)``."""
    predictions = model.predict(x).predictions
    slots = sum(name.startswith("place_") for name in predictions)
    count = predictions["count"].argmax(-1)
    nothing = torch.arange(slots) >= count[:, None]  # (N, K)
    digit = torch.stack([predictions[f"digit_{k + 1}"].argmax(-1) for k in range(slots)], 1)
    place = torch.stack([predictions[f"place_{k + 1}"] for k in range(slots)], 1)
    return Found(
        count.numpy(),
        digit.masked_fill(nothing, -1).numpy(),
        place.masked_fill(nothing[..., None], torch.nan).numpy(),
    )


def truth_of(data: Dataset) -> Found:
    """Return the true content of the canvases."""
    slots = range(sum(name.startswith("place_") for name in data.factors))
    digit = torch.stack([data.factor(f"digit_{k + 1}").values for k in slots], 1)
    place = torch.stack([data.factor(f"place_{k + 1}").values for k in slots], 1)
    return Found(data.factor("count").values.numpy(), digit.numpy(), place.numpy())


def scores(model: TrainedModel, data: Dataset) -> Numbers:
    """Return right counts and right sets of digits in per cent, and the distance of matched positions in pixels."""
    ours, truth = found_by(model, data.batch(range(len(data))).x), truth_of(data)
    half = data.item_shape[-1] / 2  # places go from -1 to 1
    return {
        "count": 100 * float((ours.count == truth.count).mean()),
        "sets": 100 * set_accuracy(ours.digit, truth.digit),
        "place": matched_distance(ours.place[..., :2] * half, truth.place[..., :2] * half),
    }
