"""The methods of own-data: the library's default, and baselines of scikit-learn on the usual features.

Each takes a :class:`Task` and returns class probabilities ``(T, K)``, or numbers ``(T,)``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.own_data.task import Task
from experiments.own_data.usual_features import Rows, _stacked, convolution_rows, dense_rows, linear_rows

Method = Callable[[Task], np.ndarray]
_GRID = np.logspace(-3, 3, 10)
_FOLDS = 5
OURS, LINEAR = "Unknot", "linear"


def ours(task: Task) -> np.ndarray:
    """Predict by the default of StructuredVAE."""
    from unknot import StructuredVAE

    x = task.x + task.more if isinstance(task.x, list) else _stacked(task.x, task.more)
    count = len(x) if isinstance(x, list) else x.shape[0]
    labels = np.full(count, -1 if task.classes else np.nan, np.int64 if task.classes else np.float64)
    labels[: len(task.y)] = task.y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = None if task.classes else {"label": "continuous"}
        vae = StructuredVAE(kinds=kinds, seed=task.seed, steps=task.steps, verbose=False, verdict=False)
        vae.fit(x, label=labels)
        if not task.classes:
            return np.asarray(vae.predict(task.test), np.float64)
        return full(vae.predict_proba(task.test), vae.classes_["label"], task.classes)


def linear(task: Task) -> np.ndarray:
    """Predict by logistic or ridge regression with a cross-validated penalty."""
    return _linear(linear_rows(task), task)


def convolutions(task: Task) -> np.ndarray:
    """Predict by the same on features of random convolutions."""
    return _linear(convolution_rows(task), task)


def forest(task: Task) -> np.ndarray:
    """Predict by a random forest of 200 trees; of texts by one on words."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if task.classes else RandomForestRegressor
    return _fitted(kind(200, random_state=task.seed), linear_rows(task), task)


def boosting(task: Task) -> np.ndarray:
    """Predict by gradient boosting."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingClassifier if task.classes else GradientBoostingRegressor
    return _fitted(kind(random_state=task.seed), dense_rows(task), task)


def self_training(task: Task) -> np.ndarray:
    """Predict by self-training of logistic regression with threshold 0.9."""
    from sklearn.semi_supervised import SelfTrainingClassifier

    rows = linear_rows(task)
    model = SelfTrainingClassifier(_logistic(_penalty(rows, task)), threshold=0.9)
    return _with_unlabeled(model, rows, task)


def spreading(task: Task) -> np.ndarray:
    """Predict by label spreading over seven neighbors."""
    from sklearn.semi_supervised import LabelSpreading

    return _with_unlabeled(LabelSpreading(kernel="knn", n_neighbors=7), dense_rows(task), task)


def methods_of(kind: str, numbers: bool) -> dict[str, Method]:
    """Return the methods for a kind of data by name, ours first."""
    found: dict[str, Method] = {OURS: ours, LINEAR: linear, "forest": forest, "boosting": boosting}
    if kind == "series":
        found["convolutions, linear"] = convolutions
    return found if numbers else {**found, "self-training": self_training, "label spreading": spreading}


def full(probabilities: np.ndarray, present: Any, classes: int) -> np.ndarray:
    """Return probabilities of all classes; those without labels share the smallest part."""
    found = np.full((len(probabilities), classes), 1e-3)
    found[:, np.asarray(present, int)] = np.maximum(probabilities, 1e-12)
    return found / found.sum(1, keepdims=True)


def _linear(rows: Rows, task: Task) -> np.ndarray:
    if not task.classes:
        from sklearn.linear_model import RidgeCV

        return _fitted(RidgeCV(np.logspace(-2, 4, 13)), rows, task)
    return _fitted(_logistic(_penalty(rows, task)), rows, task)


def _logistic(inverse: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=inverse, max_iter=500, tol=1e-3)


def _penalty(rows: Rows, task: Task) -> float:
    """Return the inverse penalty with the lowest log loss on five folds, for rows of the mean squared length 10."""
    from sklearn.model_selection import KFold

    total = np.zeros(len(_GRID))
    unit = 10 / _mean_square(rows.x)
    folds = KFold(_FOLDS, shuffle=True, random_state=task.seed).split(task.y)
    for seen, hidden in folds:
        if len(np.unique(task.y[seen])) < 2:
            continue
        for g, inverse in enumerate(_GRID):
            model = _quiet(_logistic(inverse * unit), rows.x[seen], task.y[seen])
            shares = full(model.predict_proba(rows.x[hidden]), model.classes_, task.classes)
            total[g] -= np.log(shares[np.arange(len(hidden)), task.y[hidden]]).sum()
    return float(_GRID[total.argmin()] * unit)


def _mean_square(x: Any) -> float:
    squares = x.multiply(x).sum(1) if hasattr(x, "multiply") else np.square(x).sum(1)
    return max(float(np.asarray(squares).mean()), 1e-12)


def _quiet(model: Any, x: Any, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # training that has not converged
        return model.fit(x, y)


def _fitted(model: Any, rows: Rows, task: Task) -> np.ndarray:
    _quiet(model, rows.x, task.y)
    if task.classes:
        return full(model.predict_proba(rows.test), model.classes_, task.classes)
    return np.asarray(model.predict(rows.test))


def _with_unlabeled(model: Any, rows: Rows, task: Task) -> np.ndarray:
    unknown = np.full(rows.more.shape[0], -1)
    _quiet(model, _stacked(rows.x, rows.more), np.concatenate([task.y, unknown]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without a labeled neighbor
        shares = np.nan_to_num(model.predict_proba(rows.test)) + 1e-3
    return full(shares, model.classes_, task.classes)
