"""The items of a data set whose class is known, with what the encoder says of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unknot.data.dataset import Dataset
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.labels import class_names
from unknot.workflow.measures import class_probabilities
from unknot.workflow.trained_model import TrainedModel


@dataclass(frozen=True)
class Answered:
    """One factor: rows of the data, their true classes, the best class and its probability, and the classes' names."""

    factor: str
    rows: np.ndarray
    truth: np.ndarray
    guess: np.ndarray
    sure: np.ndarray
    classes: tuple[str, ...]


def answered(model: TrainedModel, data: Dataset, answers: DatasetPrediction) -> Iterator[Answered]:
    """Every factor with classes that the data has labels of."""
    for node in model.labeled:
        factor = data.factors.get(node.name)
        if factor is None or factor.kind == "continuous" or not bool(factor.known.any()):
            continue
        shares = class_probabilities(answers.predictions[node.name])
        rows = factor.known.cpu().nonzero()[:, 0].numpy()
        yield Answered(
            node.name,
            rows,
            factor.values.cpu().numpy()[rows],
            shares[rows].argmax(-1),
            shares[rows].max(-1),
            class_names(factor, shares.shape[1]),
        )
