"""Comparison: an encoder beside a linear model on the same labels, item by item."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec
from unknot.workflow.evaluation import (
    MEASURES,
    DatasetPrediction,
    Measure,
    class_probabilities,
    predict_dataset,
)
from unknot.workflow.trained_model import TrainedModel

# ---- What a user would do instead: a linear model on the same labels, by scikit-learn --------------------

_MOST_NUMBERS = 2_000_000  # that a linear model is fitted to, so that it takes about a second
_FOLDS = 5


def affordable(labels: int, numbers: int) -> int:
    """How many of the labels a linear model of items of so many numbers is fitted to."""
    return min(labels, max(_MOST_NUMBERS // max(numbers, 1), 100))


def linear_summary(seen: Dataset, name: str, classes: int, asked: Dataset | None) -> np.ndarray:
    """What a linear model says of a factor, in the form of an encoder: one-hot ``(N, K)``, or numbers ``(N, D)``.

    Logistic regression as it comes, or for numbers (``classes`` is 0) ridge regression with a strength chosen by
    leaving one out, on items of ``seen`` whose labels are all known. ``asked`` are the items it is asked about; None:
    those of ``seen`` themselves, each by a model that did not see it, in five folds.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import KFold

    x, y = plain_numbers(seen), seen.factors[name].values.cpu().numpy()
    one_scale = len(seen.item_shape) == 3 or isinstance(seen.x, SparseCounts)  # pixels, words
    model = _pipeline(classes > 0, scaled=not one_scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        if asked is None:
            said = np.empty(y.shape)
            for shown, hidden in KFold(min(_FOLDS, len(x)), shuffle=True, random_state=0).split(x):
                said[hidden] = _said(model, x[shown], y[shown], x[hidden], classes)
        else:
            said = _said(model, x, y, plain_numbers(asked), classes)
    return np.eye(classes)[said.astype(int)] if classes else said.reshape(len(said), -1)


def _said(model: Any, x: np.ndarray, y: np.ndarray, asked: np.ndarray, classes: int) -> np.ndarray:
    """What a model says that is fitted to labels; where all are of one class, as with its one label held out, that."""
    if classes and (y == y[0]).all():
        return np.full(len(asked), y[0])
    return np.asarray(model.fit(x, y).predict(asked))


def constant_summary(seen: Dataset, name: str, classes: int, asked: Dataset) -> np.ndarray:
    """What somebody says who never looks: the commonest class, or the mean."""
    y = seen.factors[name].values.cpu().numpy()
    said = np.eye(classes)[np.bincount(y).argmax()] if classes else y.reshape(len(y), -1).mean(0)
    return np.tile(said, (len(asked), 1))


def plain_numbers(data: Dataset) -> np.ndarray:
    """Items as rows of numbers: pixels, counts, or columns with categories one-hot; NaN marks a gap in a number."""
    x = data.batch(range(len(data))).x.to_dense().cpu()
    if not data.table:
        return x.reshape(len(x), -1).numpy()
    parts = [_one_hot(x[:, i], c.classes) if c.kind == "category" else x[:, i : i + 1].numpy()
             for i, c in enumerate(data.table)]  # fmt: skip
    return np.concatenate(parts, 1)


def _one_hot(codes: Tensor, classes: tuple[str, ...]) -> np.ndarray:
    """A column for each class; a gap is none of them."""
    count = len(classes) or int(codes.nan_to_num(0).max()) + 1
    return np.asarray(codes.numpy()[:, None] == np.arange(count), dtype=np.float32)


def _pipeline(classes: bool, scaled: bool) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = LogisticRegression(max_iter=200) if classes else RidgeCV(np.logspace(-2, 3, 11))
    if not scaled:
        return model
    return make_pipeline(SimpleImputer(keep_empty_features=True, add_indicator=True), StandardScaler(), model)


_FEWEST = 10  # labels from which a linear model is worth a look
_JUDGED = 5000  # items that are looked at
_JUDGED_NUMBERS = 1 << 24  # and the numbers they have together


@dataclass(frozen=True)
class Comparison:
    """One factor's losses (of :class:`~unknot.workflow.evaluation.Measure`), the same items in each array.

    - ``encoder``, ``linear``, ``constant``: of the items that are judged. They are held-out ones (``held_out``), or
      the seen ones themselves, where the linear model is cross-fitted and the encoder is not: it is favored.
    - ``seen``: the encoder's, on the labels it was trained on.
    - ``labels``: how many of them the linear model was fitted to, ``of`` how many there are.
    """

    factor: str
    measure: Measure
    encoder: np.ndarray
    linear: np.ndarray
    constant: np.ndarray
    seen: np.ndarray
    labels: int
    of: int
    held_out: bool

    @property
    def same_labels(self) -> str:
        """The linear model's labels in words: the same ones, or as many of them as it is given."""
        return (
            f"the same {self.of:,} labels"
            if self.labels == self.of
            else f"{self.labels:,} of the {self.of:,} labels"
        )


def compare(
    model: TrainedModel, seen: Dataset, held_out: Dataset | None, answers: DatasetPrediction | None = None
) -> list[Comparison]:
    """One comparison for each factor with labels enough.

    - ``seen``: the training items, with the labels that could be seen.
    - ``held_out``: other items, if there are; ``answers``: what the encoder says of them, if that is at hand.
    """
    if answers is None and held_out is not None:
        answers = predict_dataset(model, held_out)
    found = []
    for node in model.labeled:
        rows = _labeled(seen, node.name, affordable(len(seen), seen.item_shape.numel()))
        shown = seen.subset(rows)
        if len(rows) < _FEWEST or len(shown.factors[node.name].values.unique(dim=0)) < 2:
            continue
        of = int(seen.factors[node.name].known.sum())
        own = predict_dataset(model, shown).predictions[node.name]
        asked = rows[:0] if held_out is None else _labeled(held_out, node.name, _judged(held_out))
        if held_out is None or answers is None or not len(asked):
            found.append(_compared(node, shown, own, shown, own, of, held_out=False))
        else:
            said = answers.predictions[node.name][asked.numpy()]
            found.append(_compared(node, shown, own, held_out.subset(asked), said, of, held_out=True))
    return found


def _compared(
    node: NodeSpec,
    shown: Dataset,
    own: np.ndarray,
    asked: Dataset,
    said: np.ndarray,
    of: int,
    *,
    held_out: bool,
) -> Comparison:
    """``own`` is what the encoder reports of the items ``shown``, ``said`` of those ``asked``."""
    labels, factor = shown.factors[node.name].values.cpu().numpy(), asked.factors[node.name]
    truth = factor.values.cpu().numpy()
    measure = MEASURES[family_of(node).measure_for(factor.kind)]
    classes = max(class_probabilities(said).shape[1], int(labels.max()) + 1) if measure.share else 0
    linear = linear_summary(shown, node.name, classes, asked if held_out else None)
    return Comparison(
        factor=node.name,
        measure=measure,
        encoder=measure.losses(truth, said),
        linear=measure.losses(truth, linear),
        constant=measure.losses(truth, constant_summary(shown, node.name, classes, asked)),
        seen=measure.losses(labels, own),
        labels=len(shown),
        of=of,
        held_out=held_out,
    )


def _judged(data: Dataset) -> int:
    """How many items are looked at: fewer, if they are large, since a linear model has them all in memory."""
    return min(_JUDGED, max(100, _JUDGED_NUMBERS // max(1, data.item_shape.numel())))


def _labeled(data: Dataset, name: str, most: int) -> torch.Tensor:
    """The rows whose label of a factor is known, at most so many of them."""
    if name not in data.factors:
        return torch.zeros(0, dtype=torch.long)
    rows = data.factors[name].known.cpu().nonzero()[:, 0]
    kept = np.sort(np.random.default_rng(0).permutation(len(rows))[:most])
    return rows[torch.from_numpy(kept)]
