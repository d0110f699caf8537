"""Comparison: the model's predictions beside those of a linear model trained on the same labels, item by item."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

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
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.unseen import measure_of

_FEWEST = 10  # labels below which no linear model is fitted
_MOST_NUMBERS = 2_000_000  # entries of the matrix that a linear model is fitted to: about a second
_FOLDS = 5
_MOST_COMPARED = 5000  # items
_MOST_COMPARED_NUMBERS = 1 << 24  # entries of these items
_NO_ROWS = torch.zeros(0, dtype=torch.long)


Labels = Literal["held-out", "out-of-fold", "training"]


@dataclass(frozen=True)
class Comparison:
    """Losses of one factor under the model and under simple baselines, the same items in each array.

    Parameters
    ----------
    factor : str
        The factor's name.
    measure : Measure
        What the losses are.
    model, linear, constant : ndarray
        Losses of the compared items.
    training : ndarray
        The model's losses on the labels that it was trained on; empty beside out-of-fold labels.
    fitted : int
        How many labels the linear model was fitted to.
    labels : int
        How many labels the model was trained on.
    of : {"held-out", "out-of-fold", "training"}
        Which labels are compared. Held-out labels belong to other items. Out-of-fold labels were hidden from both
        models, one fold after the other. With training labels only the linear model is cross-fitted, so the comparison
        favors the model, and its losses are no errors.
    """

    factor: str
    measure: Measure
    model: np.ndarray
    linear: np.ndarray
    constant: np.ndarray
    training: np.ndarray
    fitted: int
    labels: int
    of: Labels

    @property
    def unseen(self) -> bool:
        """Whether the model was not trained on the compared labels."""
        return self.of != "training"


def compare(
    model: TrainedModel,
    train: Dataset,
    held_out: Dataset | None,
    predictions: DatasetPrediction | None = None,
) -> list[Comparison]:
    """Compare the model with a linear model and with a constant prediction.

    Held-out labels are compared where there are any, out-of-fold predictions otherwise, and training labels if there
    are none of these either.

    Parameters
    ----------
    model : TrainedModel
        The model.
    train : Dataset
        The training items, with the labels that training saw.
    held_out : Dataset or None
        Items with labels that the model was not trained on.
    predictions : DatasetPrediction or None
        The model's predictions for ``held_out``, if there are any yet.

    Returns
    -------
    list of Comparison
        One for each factor with at least ten labels and two different values.
    """
    if predictions is None and held_out is not None:
        predictions = predict_dataset(model, held_out)
    comparisons, cross_fitted = [], {one.factor: one for one in compare_out_of_fold(model)}
    for node in model.labeled:
        test_rows = (
            _NO_ROWS if held_out is None else _labeled_rows(held_out, node.name, _most_items(held_out))
        )
        if not len(test_rows) and node.name in cross_fitted:
            comparisons.append(cross_fitted[node.name])
            continue
        rows = _labeled_rows(train, node.name, affordable(len(train), train.item_shape.numel()))
        fitted = train.subset(rows)
        if len(rows) < _FEWEST or len(fitted.factors[node.name].values.unique(dim=0)) < 2:
            continue
        labels = int(train.factors[node.name].known.sum())
        own = predict_dataset(model, fitted).predictions[node.name]
        if held_out is not None and predictions is not None and len(test_rows):
            tested, test = predictions.predictions[node.name][test_rows.numpy()], held_out.subset(test_rows)
            comparisons.append(_comparison(node, fitted, own, test, tested, labels, "held-out"))
        else:
            comparisons.append(_comparison(node, fitted, own, fitted, own, labels, "training"))
    return comparisons


def _comparison(
    node: NodeSpec,
    train: Dataset,
    train_predictions: np.ndarray,
    test: Dataset,
    test_predictions: np.ndarray,
    labels: int,
    of: Labels,
) -> Comparison:
    train_truth, factor = train.factors[node.name].values.cpu().numpy(), test.factors[node.name]
    test_truth = factor.values.cpu().numpy()
    measure = MEASURES[family_of(node).measure_for(factor.kind)]
    classes = 0
    if measure.share:
        classes = max(class_probabilities(test_predictions).shape[1], int(train_truth.max()) + 1)
    linear = linear_predictions(train, node.name, classes, test if of == "held-out" else None)
    return Comparison(
        factor=node.name,
        measure=measure,
        model=measure.losses(test_truth, test_predictions),
        linear=measure.losses(test_truth, linear),
        constant=measure.losses(test_truth, constant_predictions(train_truth, classes, len(test))),
        training=measure.losses(train_truth, train_predictions),
        fitted=len(train),
        labels=labels,
        of=of,
    )


def compare_out_of_fold(model: TrainedModel) -> list[Comparison]:
    """Return the comparisons by out-of-fold predictions, whose linear models did not see the labels either."""
    comparisons = []
    for node in model.labeled:
        one = model.out_of_fold.get(node.name)
        if one is not None:
            comparisons.append(_out_of_fold(measure_of(model, node), one))
    return comparisons


def _out_of_fold(measure: Measure, one: OutOfFold) -> Comparison:
    classes = class_probabilities(one.predictions).shape[1] if measure.share else 0
    return Comparison(
        factor=one.factor,
        measure=measure,
        model=measure.losses(one.labels, _of_measure(one.predictions, measure)),
        linear=measure.losses(one.labels, _of_measure(one.linear, measure)),
        constant=measure.losses(one.labels, constant_predictions(one.labels, classes, len(one))),
        training=np.zeros(0),
        fitted=len(one),
        labels=len(one),
        of="out-of-fold",
    )


def _of_measure(predictions: np.ndarray, measure: Measure) -> np.ndarray:
    """Class probabilities, or numbers ``(n, D)``."""
    return class_probabilities(predictions) if measure.share else predictions.reshape(len(predictions), -1)


def _most_items(data: Dataset) -> int:
    """How many items are compared: fewer if they are large, since a linear model holds all of them in memory."""
    return min(_MOST_COMPARED, max(100, _MOST_COMPARED_NUMBERS // max(1, data.item_shape.numel())))


def _labeled_rows(data: Dataset, name: str, most: int) -> torch.Tensor:
    """At most ``most`` rows whose label of a factor is known."""
    if name not in data.factors:
        return _NO_ROWS
    rows = data.factors[name].known.cpu().nonzero()[:, 0]
    kept = np.sort(np.random.default_rng(0).permutation(len(rows))[:most])
    return rows[torch.from_numpy(kept)]


# ---- the baselines ----------------------------------------------------------------------------------


def affordable(labels: int, numbers: int) -> int:
    """How many of the labels a linear model is fitted to, by the size of an item."""
    return min(labels, max(_MOST_NUMBERS // max(numbers, 1), 100))


def linear_predictions(train: Dataset, name: str, classes: int, test: Dataset | None) -> np.ndarray:
    """Predictions of a linear model by scikit-learn, in the form of an encoder's.

    Parameters
    ----------
    train : Dataset
        Items whose labels of the factor are all known.
    name : str
        The factor.
    classes : int
        The number of classes: logistic regression with scikit-learn's default settings. 0 for numbers: ridge
        regression whose penalty is chosen by leave-one-out cross-validation.
    test : Dataset or None
        The items to predict. None: those of ``train``, each by a model that was not fitted to it, in five folds.

    Returns
    -------
    ndarray
        One-hot classes ``(N, K)``, or numbers ``(N, D)``.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import KFold

    x, y = plain_numbers(train), train.factors[name].values.cpu().numpy()
    one_scale = len(train.item_shape) == 3 or isinstance(train.x, SparseCounts)  # pixels, words
    model = _pipeline(classes > 0, scaled=not one_scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        if test is None:
            values = np.empty(y.shape)
            for fitted, left_out in KFold(min(_FOLDS, len(x)), shuffle=True, random_state=0).split(x):
                values[left_out] = _fit_predict(model, x[fitted], y[fitted], x[left_out], classes)
        else:
            values = _fit_predict(model, x, y, plain_numbers(test), classes)
    return np.eye(classes)[values.astype(int)] if classes else values.reshape(len(values), -1)


def _fit_predict(model: Any, x: np.ndarray, y: np.ndarray, test: np.ndarray, classes: int) -> np.ndarray:
    """The predictions of a fitted model; where all labels are of one class, that class."""
    if classes and (y == y[0]).all():
        return np.full(len(test), y[0])
    return np.asarray(model.fit(x, y).predict(test))


def constant_predictions(labels: np.ndarray, classes: int, count: int) -> np.ndarray:
    """The most frequent class of some labels, or their mean, for each of ``count`` items."""
    value = (
        np.eye(classes)[np.bincount(labels).argmax()] if classes else labels.reshape(len(labels), -1).mean(0)
    )
    return np.tile(value, (count, 1))


def plain_numbers(data: Dataset) -> np.ndarray:
    """Items as rows of numbers: pixels, counts, or columns with categories one-hot; NaN marks missing values."""
    x = data.batch(range(len(data))).x.to_dense().cpu()
    if not data.table:
        return x.reshape(len(x), -1).numpy()
    columns = [
        _one_hot(x[:, i], column.classes) if column.kind == "category" else x[:, i : i + 1].numpy()
        for i, column in enumerate(data.table)
    ]
    return np.concatenate(columns, 1)


def _one_hot(codes: Tensor, classes: tuple[str, ...]) -> np.ndarray:
    """A column for each class; a missing value is zero in all of them."""
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
