"""Evaluation: the predictions of a trained model for a data set, their errors, and the evidence of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unknot.core.tracing import trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.metrics.prediction_error import angles, independent_items, squared_errors, wilson_interval
from unknot.models.families import family_of
from unknot.objectives import importance_weighted
from unknot.workflow.trained_model import TrainedModel, item_rows, items_at_once

_BOUND_AT_ONCE = 200  # items
_REACH = 1.96  # standard errors on each side of a mean, for 95 %


@dataclass(frozen=True)
class Measure:
    """How predictions are compared with labels, and how the number is written.

    Attributes
    ----------
    name : str
        What tables call it.
    losses : callable
        ``losses(truth, prediction)`` returns one loss per item with a known label, ``(n,)``; the number is their mean.
        The truth is ``(N,)`` or ``(N, D)`` with unknown entries marked, the prediction ``(N, K)`` or ``(N, D)``.
    share : bool
        Whether it is a share of items, shown in per cent.
    root : bool
        Whether the number is the root of the mean.
    """

    name: str
    losses: Callable[[np.ndarray, np.ndarray], np.ndarray]
    share: bool = False
    root: bool = False

    def of(self, truth: np.ndarray, prediction: np.ndarray) -> float:
        """Return the number for items of which at least one label is known."""
        return self.total(self.losses(truth, prediction))

    def total(self, losses: np.ndarray) -> float:
        """Return the number from the losses of items."""
        return float(np.sqrt(losses.mean())) if self.root else float(losses.mean())

    def interval(self, losses: np.ndarray, folds: int = 0) -> tuple[float, float] | None:
        """Return the 95 % interval of the number: Wilson's for a share, otherwise by standard errors.

        Losses that were cross-fitted in ``folds`` count as fewer items
        (:func:`~unknot.metrics.prediction_error.independent_items`).
        """
        items = independent_items(len(losses), folds)
        if self.share:
            return wilson_interval(float(losses.mean()), items)
        if len(losses) < 2:
            return None
        reach = _REACH * float(losses.std(ddof=1)) / items**0.5
        ends = max(float(losses.mean()) - reach, 0.0), float(losses.mean()) + reach
        return (ends[0] ** 0.5, ends[1] ** 0.5) if self.root else ends

    def text(self, value: float, interval: tuple[float, float] | None = None) -> str:
        """Format the number as reports and tables show it, followed by its interval."""
        number = f"{100 * value:.2f} %" if self.share else f"{value:.4g}"
        return number if interval is None else f"{number} ({self.span(interval)})"

    def span(self, interval: tuple[float, float]) -> str:
        """Format an interval."""
        low, high = interval
        return f"{100 * low:.1f} to {100 * high:.1f} %" if self.share else f"{low:.4g} to {high:.4g}"


def class_probabilities(prediction: np.ndarray) -> np.ndarray:
    """Return probabilities ``(N, K)`` from a prediction, which for a binary node is the probability of yes alone."""
    return np.concatenate([1 - prediction, prediction], 1) if prediction.shape[1] == 1 else prediction


def _wrong(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    known = truth >= 0
    if not known.any():
        raise SpecError(f"error: expected items whose class is known, but none of the {len(truth)} is")
    return (class_probabilities(prediction).argmax(-1)[known] != truth[known]).astype(np.float64)


def _squares(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return squared_errors(truth.reshape(len(truth), -1), prediction)


MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        Measure("error", _wrong, share=True),
        Measure("root mean square error", _squares, root=True),
        Measure("mean angle (degrees)", angles),
    )
}


@dataclass(frozen=True)
class Score:
    """One number about one factor."""

    factor: str
    measure: str  # a name of unknot.workflow.evaluation
    value: float
    items: int
    interval: tuple[float, float] | None = None  # 95 %

    @property
    def text(self) -> str:
        """The number with its interval, error rates in per cent."""
        return MEASURES[self.measure].text(self.value, self.interval)

    @property
    def number(self) -> str:
        """The number without its interval."""
        return MEASURES[self.measure].text(self.value)

    @property
    def span(self) -> str:
        """The interval, if there is one."""
        return "" if self.interval is None else MEASURES[self.measure].span(self.interval)


@dataclass(frozen=True)
class DatasetPrediction:
    """Class probabilities ``(N, K)`` or means ``(N, D)`` of every factor, for all items of a data set."""

    predictions: dict[str, np.ndarray]


def predict_dataset(model: TrainedModel, data: Dataset) -> DatasetPrediction:
    """Predict all factors of a data set, without sampling and without labels."""
    batches = data.batches(items_at_once(model.shape), shuffle=False)
    parts = [model.predict_batch(batch.x, model.known_inputs(batch)).predictions for batch in batches]
    return DatasetPrediction({name: torch.cat([part[name] for part in parts]).numpy() for name in parts[0]})


def scores(model: TrainedModel, data: Dataset, predicted: DatasetPrediction) -> list[Score]:
    """Return one score for each factor that the model predicts and the data have labels of."""
    made = []
    for node in model.labeled:
        factor = data.factors.get(node.name)
        items = 0 if factor is None else int(factor.known.sum())
        if factor is None or items == 0:
            continue
        measure = MEASURES[family_of(node).measure_for(factor.kind)]
        losses = measure.losses(factor.values.cpu().numpy(), predicted.predictions[node.name])
        made.append(Score(node.name, measure.name, measure.total(losses), items, measure.interval(losses)))
    return made


def evaluate(model: TrainedModel, data: Dataset) -> list[Score]:
    """Predict all factors of a data set and score them with its labels."""
    return scores(model, data, predict_dataset(model, data))


def log_evidence(model: TrainedModel, x: Tensor, samples: int = 50, seed: int = 0) -> Tensor:
    """Return the importance-weighted bound of log p(x) for each item, ``(N,)`` (Burda et al. 2016).

    The bound is log (1/S) sum_s p(x, z_s) / q(z_s | x); it is low for outliers. Missing entries of a table are
    marginalized. The state of torch's global generator is kept.

    Parameters
    ----------
    model : TrainedModel
        The model.
    x : Tensor
        Items, ``(N, ...)``.
    samples : int, default=50
        Draws per item, S.
    seed : int, default=0
        Seed of the draws.
    """
    program, bounds = model.program, []
    with torch.random.fork_rng(devices=[]), torch.no_grad(), validation(False):
        torch.manual_seed(seed)
        for start in range(0, len(x), _BOUND_AT_ONCE):
            rows = item_rows(x, start, start + _BOUND_AT_ONCE).to(model.device)
            q = trace(program.encode, rows, None, samples)
            bounds.append(importance_weighted(q, trace(program.decode, rows, q))["evidence"].cpu())
    scores = torch.cat(bounds)
    return torch.where(scores.isnan(), -torch.inf, scores)  # outliers whose squares overflow
