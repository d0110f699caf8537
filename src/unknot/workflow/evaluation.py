"""Evaluation: the predictions of a trained model for a data set, and how often they are right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.models.families import family_of
from unknot.workflow.item_rows import items_at_once
from unknot.workflow.measures import MEASURES
from unknot.workflow.trained_model import TrainedModel


@dataclass(frozen=True)
class Score:
    """One number about one factor."""

    factor: str
    measure: str  # a name of unknot.workflow.measures
    value: float
    items: int
    interval: tuple[float, float] | None = None  # 95 %

    @property
    def text(self) -> str:
        """The number as people read it: error rates in per cent, with the interval they may truly lie in."""
        return MEASURES[self.measure].text(self.value, self.interval)

    @property
    def number(self) -> str:
        """The number alone."""
        return MEASURES[self.measure].text(self.value)

    @property
    def span(self) -> str:
        """The interval alone, if there is one."""
        return "" if self.interval is None else MEASURES[self.measure].span(self.interval)


@dataclass(frozen=True)
class DatasetPrediction:
    """Class probabilities ``(N, K)`` or means ``(N, D)`` of every factor, for all items of a data set."""

    predictions: dict[str, np.ndarray]


def predict_dataset(model: TrainedModel, data: Dataset) -> DatasetPrediction:
    """Predict all factors of a data set, without sampling and without labels."""
    batches = data.batches(items_at_once(model.shape), shuffle=False)
    parts = [model.predict(batch.x).predictions for batch in batches]
    return DatasetPrediction({name: torch.cat([part[name] for part in parts]).numpy() for name in parts[0]})


def scores(model: TrainedModel, data: Dataset, answers: DatasetPrediction) -> list[Score]:
    """One score for each named factor that the data has labels for."""
    found = []
    for node in model.labeled:
        factor = data.factors.get(node.name)
        items = 0 if factor is None else int(factor.known.sum())
        if factor is None or items == 0:
            continue
        measure = MEASURES[family_of(node).measure_for(factor.kind)]
        losses = measure.losses(factor.values.cpu().numpy(), answers.predictions[node.name])
        found.append(Score(node.name, measure.name, measure.total(losses), items, measure.interval(losses)))
    return found


def evaluate(model: TrainedModel, data: Dataset) -> list[Score]:
    """Predict all factors of a data set and compare with its labels."""
    return scores(model, data, predict_dataset(model, data))
