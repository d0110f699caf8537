"""Unseen: the predictions of one factor for labeled items whose labels the model was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unknot.data.dataset import Dataset
from unknot.metrics.prediction_error import Reliability, confusion_matrix, reliability
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.workflow.evaluation import MEASURES, DatasetPrediction, Measure, class_probabilities
from unknot.workflow.labels import class_names
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.trained_model import TrainedModel

_LEAST = 1e-7  # probability, for logarithms


@dataclass(frozen=True)
class Unseen:
    """Labels of one factor that the model was not trained on, and its predictions for the same items.

    Parameters
    ----------
    factor : str
        The factor.
    measure : Measure
        How predictions are compared with labels.
    classes : tuple of str
        The names of the K classes; none for numbers.
    rows : ndarray of int, shape (n,)
        Positions of the items in the data that are shown, -1 for items that are not among them.
    truth : ndarray, shape (n,) or (n, D)
        Class indices, or numbers.
    predictions : ndarray, shape (n, K) or (n, D)
        Class probabilities, or means.
    folds : int
        0 for held-out labels. Otherwise the labels were hidden from training in this number of folds, one after the
        other, and every prediction is that of a model that did not see the label.
    """

    factor: str
    measure: Measure
    classes: tuple[str, ...]
    rows: np.ndarray
    truth: np.ndarray
    predictions: np.ndarray
    folds: int = 0

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def where(self) -> str:
        """Which labels these are, in words."""
        return f"{len(self):,} {'out-of-fold' if self.folds else 'held-out'} labels"

    # ---- classes and numbers ------------------------------------------------------------------------

    @cached_property
    def losses(self) -> np.ndarray:
        """One loss per item, ``(n,)``."""
        return self.measure.losses(self.truth, self.predictions)

    @property
    def value(self) -> float:
        """The error rate, or the error of numbers."""
        return self.measure.total(self.losses)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of ``value`` on new items."""
        return self.measure.interval(self.losses, self.folds)

    # ---- classes ------------------------------------------------------------------------------------

    @cached_property
    def predicted(self) -> np.ndarray:
        """The most probable classes, ``(n,)``."""
        return self.predictions.argmax(1)

    @property
    def right(self) -> np.ndarray:
        """Whether the most probable class is the label, bool ``(n,)``."""
        return self.predicted == self.truth

    @cached_property
    def confidence(self) -> np.ndarray:
        """The probability of the most probable class, ``(n,)``."""
        return self.predictions.max(1)

    @property
    def log_loss(self) -> float:
        """The mean of -log p(label), in nats."""
        of_labels = self.predictions[np.arange(len(self)), self.truth]
        return float(-np.log(np.clip(of_labels, _LEAST, None)).mean())

    @property
    def macro_f1(self) -> float:
        """The mean of the F1 scores of the classes that are labeled or predicted, as scikit-learn defines it."""
        right, labeled, predicted = np.diag(self.confusion), self.confusion.sum(1), self.confusion.sum(0)
        occurs = (labeled + predicted) > 0
        return float((2 * right[occurs] / (labeled + predicted)[occurs]).mean())

    @property
    def confusion(self) -> np.ndarray:
        """Counts by label and most probable class, ``(K, K)``."""
        return confusion_matrix(self.truth, self.predicted, self.predictions.shape[1])

    @property
    def calibration(self) -> Reliability:
        """Mean confidence and accuracy in ten bins of the confidence."""
        return reliability(self.confidence, self.right)

    # ---- tables -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return every number as plain data."""
        numbers = {
            "factor": self.factor,
            "labels": "out-of-fold" if self.folds else "held-out",
            "items": len(self),
            "measure": self.measure.name,
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
        }
        if self.measure.share:
            numbers |= {
                "log_loss": self.log_loss,
                "macro_f1": self.macro_f1,
                "mean_probability": float(self.confidence.mean()),
                "calibration_error": self.calibration.error,
            }
        return numbers

    @property
    def row(self) -> tuple[str, ...]:
        """The numbers in words, in the order of :data:`HEADER`; cells of what numbers do not have are empty."""
        span = "" if self.interval is None else self.measure.span(self.interval)
        cells = (self.factor, self.where, self.measure.name, self.measure.text(self.value), span)
        if not self.measure.share:
            return (*cells, "", "", "", "")
        probability = f"{100 * float(self.confidence.mean()):.0f} %"
        return (
            *cells,
            f"{self.log_loss:.3f}",
            f"{self.macro_f1:.3f}",
            probability,
            f"{self.calibration.error:.3f}",
        )


_OF_ALL = ("factor", "measured on", "measure", "value", "95 % interval")
HEADER = (*_OF_ALL, "log loss", "macro F1", "mean probability", "calibration error")


def table_of(unseen: Sequence[Unseen]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return a table of every number, header and rows; the columns of probabilities only if there are classes."""
    rows = [one.row for one in unseen]
    if any(one.measure.share for one in unseen):
        return HEADER, rows
    return _OF_ALL, [row[: len(_OF_ALL)] for row in rows]


def unseen_labels(
    model: TrainedModel, data: Dataset, held_out: Dataset, predictions: DatasetPrediction | None
) -> list[Unseen]:
    """Return the unseen labels of every factor that has any: held-out labels if there are some, or out-of-fold ones.

    Parameters
    ----------
    model : TrainedModel
        The model, with its out-of-fold predictions.
    data : Dataset
        The items that are shown, with all their labels.
    held_out : Dataset
        The same items with the labels that the model was not trained on.
    predictions : DatasetPrediction or None
        The model's predictions for them; may be absent without held-out labels.
    """
    unseen = []
    for node in model.labeled:
        factor = held_out.factors.get(node.name)
        if predictions is not None and factor is not None and bool(factor.known.any()):
            known = factor.known.cpu().numpy()
            truth = factor.values.cpu().numpy()[known]
            rows, values = np.flatnonzero(known), predictions.predictions[node.name][known]
            unseen.append(_unseen(model, node, rows, truth, values, 0))
        elif node.name in model.out_of_fold:
            one = model.out_of_fold[node.name]
            rows = _rows_of(one, data, held_out)
            unseen.append(_unseen(model, node, rows, one.labels, one.predictions, one.folds))
    return unseen


def measure_of(model: TrainedModel, node: NodeSpec) -> Measure:
    """Return the measure of a factor."""
    kind = model.data.factors[node.name].kind if node.name in model.data.factors else "continuous"
    return MEASURES[family_of(node).measure_for(kind)]


def _unseen(
    model: TrainedModel, node: NodeSpec, rows: np.ndarray, truth: np.ndarray, values: np.ndarray, folds: int
) -> Unseen:
    measure = measure_of(model, node)
    if not measure.share:
        return Unseen(node.name, measure, (), rows, truth.reshape(len(truth), -1), values, folds)
    probabilities = class_probabilities(values)
    count = probabilities.shape[1]
    factor = model.data.factors.get(node.name)
    classes = tuple(map(str, range(count))) if factor is None else class_names(factor, count)
    return Unseen(node.name, measure, classes, rows, truth, probabilities, folds)


def _rows_of(one: OutOfFold, data: Dataset, held_out: Dataset) -> np.ndarray:
    """Return where the items of out-of-fold predictions are in the data, -1 where they are not.

    Ids alone do not tell items of other data apart: the label has to be known here, to be the same, and to be one that
    the model was trained on.
    """
    rows = np.full(len(one), -1)
    factor = data.factors.get(one.factor)
    if factor is None:
        return rows
    trained_on = (factor.known & ~held_out.factors[one.factor].known).cpu().numpy()
    values = factor.values.cpu().numpy()
    places = {int(item): row for row, item in enumerate(data.ids.tolist())}
    for i, item in enumerate(one.ids.tolist()):
        row = places.get(item, -1)
        if row >= 0 and trained_on[row] and np.allclose(values[row], one.labels[i], rtol=1e-4):
            rows[i] = row
    return rows
