"""Evaluation: the predictions of a trained model for a data set, and how often they are right."""

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
from unknot.metrics.prediction_error import angles, squared_errors, wilson_interval
from unknot.models.families import family_of
from unknot.objectives import importance_weighted
from unknot.workflow.trained_model import TrainedModel, item_rows, items_at_once

# ---- How probable items are under a model: the importance-weighted bound of each, low for outliers -------

_CHUNK = 200


def log_evidence(model: TrainedModel, x: Tensor, samples: int = 50, seed: int = 0) -> Tensor:
    """``log (1/S) Σ_s p(x, z_s) / q(z_s | x)`` of each item, ``(N,)``: a lower bound of log p(x) (Burda et al. 2016).

    Missing entries of a table have no part in it: such a row is scored by what it shows. The draws are those of the
    seed, and leave torch's own as they were.
    """
    program, found = model.program, []
    with torch.random.fork_rng(devices=[]), torch.no_grad(), validation(False):
        torch.manual_seed(seed)
        for start in range(0, len(x), _CHUNK):
            rows = item_rows(x, start, start + _CHUNK).to(model.device)
            q = trace(program.encode, rows, None, samples)
            found.append(importance_weighted(q, trace(program.decode, rows, q))["evidence"].cpu())
    scores = torch.cat(found)
    return torch.where(scores.isnan(), -torch.inf, scores)  # numbers so far off that their squares overflow


# The one table of measures: how an encoder's answers are compared with labels, and how the number is written.

_REACH = 1.96  # standard errors on each side of a mean, for 95 %


@dataclass(frozen=True)
class Measure:
    """``losses(truth, summary)`` is what each known item adds, ``(n,)``; the number is their mean, or its root.

    Truth is ``(N,)`` or ``(N, D)`` with unknown entries marked, and what the encoder reports ``(N, K)`` or
    ``(N, D)``. ``share`` says that it is a share of items, shown in per cent.
    """

    name: str
    losses: Callable[[np.ndarray, np.ndarray], np.ndarray]
    share: bool = False
    root: bool = False

    def of(self, truth: np.ndarray, summary: np.ndarray) -> float:
        """The number for some items, of which at least one is known."""
        return self.total(self.losses(truth, summary))

    def total(self, losses: np.ndarray) -> float:
        """The number from the losses of items."""
        return float(np.sqrt(losses.mean())) if self.root else float(losses.mean())

    def interval(self, losses: np.ndarray) -> tuple[float, float] | None:
        """Where the number of all such items lies, with 95 %: Wilson's for a share, else by standard errors."""
        if self.share:
            return wilson_interval(float(losses.mean()), len(losses))
        if len(losses) < 2:
            return None
        reach = _REACH * float(losses.std(ddof=1)) / len(losses) ** 0.5
        ends = max(float(losses.mean()) - reach, 0.0), float(losses.mean()) + reach
        return (ends[0] ** 0.5, ends[1] ** 0.5) if self.root else ends

    def text(self, value: float, interval: tuple[float, float] | None = None) -> str:
        """The number as pages and tables show it, a share in per cent, and its interval behind it."""
        number = f"{100 * value:.2f} %" if self.share else f"{value:.4g}"
        return number if interval is None else f"{number} ({self.span(interval)})"

    def span(self, interval: tuple[float, float]) -> str:
        """An interval in words."""
        low, high = interval
        return f"{100 * low:.1f} to {100 * high:.1f} %" if self.share else f"{low:.4g} to {high:.4g}"


def class_probabilities(summary: np.ndarray) -> np.ndarray:
    """Probabilities ``(N, K)`` from what an encoder reports; a yes-or-no node reports that of yes alone."""
    return np.concatenate([1 - summary, summary], 1) if summary.shape[1] == 1 else summary


def _wrong(truth: np.ndarray, summary: np.ndarray) -> np.ndarray:
    known = truth >= 0
    if not known.any():
        raise SpecError(f"error: expected items whose class is known, but none of the {len(truth)} is")
    return (class_probabilities(summary).argmax(-1)[known] != truth[known]).astype(np.float64)


def _squares(truth: np.ndarray, summary: np.ndarray) -> np.ndarray:
    return squared_errors(truth.reshape(len(truth), -1), summary)


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
    parts = [model.predict_batch(batch.x).predictions for batch in batches]
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
