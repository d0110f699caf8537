"""What a user would do instead: a linear model on the same labels, by scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts

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
