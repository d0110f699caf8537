"""Evaluation: what a trained recogniser says of a data set, and how often it is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.metrics.classification import error_rate, standard_error
from unknot.metrics.regression import mean_angle, root_mean_square_error
from unknot.models.graphical_model import GraphicalModel

_CHUNK = 1000


@dataclass(frozen=True)
class Score:
    """One number about one factor."""

    factor: str
    measure: str  # "error", "root mean square error" or "mean angle (degrees)"
    value: float
    items: int
    standard_error: float | None = None


@dataclass(frozen=True)
class Answers:
    """What a recogniser reports for every item: class probabilities or means, and the best values."""

    summaries: dict[str, np.ndarray]
    values: dict[str, np.ndarray]


def class_probabilities(summary: np.ndarray) -> np.ndarray:
    """Probabilities ``(N, K)`` from what a recogniser reports; a yes-or-no node reports that of yes alone."""
    return np.concatenate([1 - summary, summary], 1) if summary.shape[1] == 1 else summary


def recognise(model: GraphicalModel, data: Dataset) -> Answers:
    """Run the recogniser over a data set, without sampling and without labels."""
    device = next(model.parameters()).device
    parts = []
    with torch.no_grad():
        for batch in data.batches(_CHUNK, shuffle=False):
            parts.append(model.recognise(batch.x.to(device)))
    names = list(parts[0].summaries)
    return Answers(
        {n: torch.cat([p.summaries[n] for p in parts]).cpu().numpy() for n in names},
        {n: torch.cat([p.values[n] for p in parts]).cpu().numpy() for n in names},
    )


def scores(model: GraphicalModel, data: Dataset, answers: Answers) -> list[Score]:
    """One score for each named factor that the data has labels for."""
    found = []
    for node in model.spec.labelled:
        if node.name not in data.factors:
            continue
        factor = data.factors[node.name]
        items = int(factor.known.sum())
        if items == 0:
            continue
        truth, summary = factor.values.cpu().numpy(), answers.summaries[node.name]
        if node.family == "direction":
            found.append(Score(node.name, "mean angle (degrees)", mean_angle(truth, summary), items))
        elif factor.kind == "continuous":
            value = root_mean_square_error(truth.reshape(len(truth), -1), summary)
            found.append(Score(node.name, "root mean square error", value, items))
        else:
            error = error_rate(truth, class_probabilities(summary).argmax(-1))
            found.append(Score(node.name, "error", error, items, standard_error(error, items)))
    return found
