"""Predicted against true values of factors that are numbers."""

from __future__ import annotations

import numpy as np

from unknot.data.dataset import Dataset
from unknot.plots.predicted import predicted_against_true
from unknot.report.section import Section
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.trained_model import TrainedModel

_MOST = 3  # numbers of a vector that are shown


def predicted(model: TrainedModel, data: Dataset, answers: DatasetPrediction) -> list[Section]:
    """A figure for every number of every continuous factor that the data has labels of."""
    found = []
    for node in model.labeled:
        factor = data.factors.get(node.name)
        if factor is None or factor.kind != "continuous" or not bool(factor.known.any()):
            continue
        known = factor.known.cpu().numpy()
        truth = factor.values.cpu().numpy().reshape(len(known), -1)[known]
        guess = answers.predictions[node.name][known]
        for d in range(min(truth.shape[1], _MOST)):
            name = node.name if truth.shape[1] == 1 else f"{node.name}[{d}]"
            explained = _explained(truth[:, d], guess[:, d])
            caption = f"Each dot is an item; on the line the encoder is right. {explained}"
            drawn = predicted_against_true(truth[:, d], guess[:, d], name)
            found.append(Section(f"Predicted and true: {name}", caption, drawn))
    return found


def _explained(truth: np.ndarray, guess: np.ndarray) -> str:
    spread = float(truth.var())
    if spread == 0:
        return "All true values are the same."
    share = 1 - float(((guess - truth) ** 2).mean()) / spread
    return f"The encoder explains {100 * share:.0f} % of the variance (R² = {share:.2f}; always saying the mean: 0)."
