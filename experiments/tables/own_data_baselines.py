"""Methods of the own-data experiments: ours, and six of scikit-learn with the usual preprocessing; splits and scores.

Each method takes a :class:`Task` and returns class probabilities ``(T, K)`` or numbers ``(T,)``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.ledger.experiment import Numbers
from experiments.ledger.fit import (
    ENSEMBLE_ALONE,
    class_probabilities,
    fitted,
    full,
    labeled_data,
    predicted,
    real_columns,
)
from unknot.metrics.prediction_error import reliability

TEST_SHARE, MOST_TEST = 0.3, 1000
_UNLABELED = 2000  # unlabeled rows of the semi-supervised methods


@dataclass(frozen=True)
class Task:
    """Training rows and test rows.

    Attributes
    ----------
    x, y : ndarray
        Labeled rows ``(L, D)`` and their labels, class indices or numbers.
    more, test : ndarray
        Unlabeled rows and test rows.
    classes : int
        The number of classes; 0 for numbers.
    seed : int
        Random seed of the method.
    scaled : bool
        Whether missing values are imputed and columns standardized first.
    steps : int, optional
        Training steps of ours in the smoke tier.
    """

    x: np.ndarray
    y: np.ndarray
    more: np.ndarray
    test: np.ndarray
    classes: int
    seed: int
    scaled: bool = True
    steps: int | None = None


Method = Callable[[Task], np.ndarray]


def ours(task: Task) -> np.ndarray:
    """Predict by the library's defaults for a table."""
    return _structured(task, {} if task.steps is None else {"steps": task.steps})


def alone(task: Task) -> np.ndarray:
    """Predict by the same ensemble with encoders trained on the labels alone."""
    return _structured(task, {"objective": ENSEMBLE_ALONE})


def linear(task: Task) -> np.ndarray:
    """Predict by logistic regression, or ridge regression with a cross-validated penalty."""
    from sklearn.linear_model import LogisticRegression, RidgeCV

    return _sklearn(
        LogisticRegression(max_iter=2000) if task.classes else RidgeCV(np.logspace(-2, 3, 11)), task
    )


def linear_after_regression(task: Task) -> np.ndarray:
    """Predict by a linear model after iterative imputation, fitted on all training rows."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    fill = IterativeImputer(random_state=task.seed, keep_empty_features=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # imputation that has not converged
        fill.fit(np.concatenate([task.x, task.more]))
        return linear(
            replace(task, x=fill.transform(task.x), test=fill.transform(task.test), more=task.more[:0])
        )


def forest(task: Task) -> np.ndarray:
    """Predict by a random forest of 200 trees."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if task.classes else RandomForestRegressor
    return _sklearn(kind(200, random_state=task.seed), task)


def boosting(task: Task) -> np.ndarray:
    """Predict by gradient boosting."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingClassifier if task.classes else GradientBoostingRegressor
    return _sklearn(kind(random_state=task.seed), task)


def spreading(task: Task) -> np.ndarray:
    """Predict by label spreading over seven neighbors."""
    from sklearn.semi_supervised import LabelSpreading

    return _with_unlabeled(LabelSpreading(kernel="knn", n_neighbors=7), task)


def self_training(task: Task) -> np.ndarray:
    """Predict by self-training of logistic regression with threshold 0.9."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    return _with_unlabeled(SelfTrainingClassifier(LogisticRegression(max_iter=1000), threshold=0.9), task)


def naive_bayes(task: Task) -> np.ndarray:
    """Predict by multinomial naive Bayes from counts or tf-idf of words."""
    from sklearn.naive_bayes import MultinomialNB

    return _sklearn(MultinomialNB(), replace(task, scaled=False))


CLASS_METHODS: dict[str, Method] = {
    "ours": ours,
    "labels alone": alone,
    "linear": linear,
    "forest": forest,
    "boosting": boosting,
    "label spreading": spreading,
    "self-training": self_training,
}
NUMBER_METHODS = {
    name: CLASS_METHODS[name] for name in ("ours", "labels alone", "linear", "forest", "boosting")
}


def _structured(task: Task, settings: Mapping[str, Any]) -> np.ndarray:
    rows = np.concatenate([task.x, task.more]).astype(np.float32)
    unknown = np.full(len(task.more), -1 if task.classes else np.nan)
    labels = np.concatenate([task.y, unknown]).astype(np.int64 if task.classes else np.float32)
    data = labeled_data(rows, {"label": labels}, real_columns(rows))
    model = fitted(data, task.seed, settings, {"kind": "ensemble"} if "objective" in settings else {})
    if task.classes:
        return class_probabilities(model, "label", task.test, task.classes)
    return predicted(model, "label", task.test)[:, 0]


def _prepared(task: Task) -> Task:
    """Return the task with missing values imputed by means and columns standardized, if it is ``scaled``."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if not task.scaled:
        return task
    usual = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()).fit(task.x)
    more = usual.transform(task.more) if len(task.more) else task.more
    return replace(task, x=usual.transform(task.x), more=more, test=usual.transform(task.test))


def _sklearn(model: Any, task: Task) -> np.ndarray:
    task = _prepared(task)
    model.fit(task.x, task.y)
    if task.classes:
        return full(model.predict_proba(task.test), model.classes_, task.classes)
    return model.predict(task.test)


def _with_unlabeled(model: Any, task: Task) -> np.ndarray:
    task = _prepared(replace(task, more=task.more[:_UNLABELED]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without a labeled neighbor, training that has not converged
        labels = np.concatenate([task.y, np.full(len(task.more), -1)])
        model.fit(np.concatenate([task.x, task.more]), labels)
        shares = np.nan_to_num(model.predict_proba(task.test)) + 1e-3
    return full(shares, model.classes_, task.classes)


def split(
    y: np.ndarray, classes: int, labels: int, seed: int, balanced: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labeled, unlabeled and test rows of a random split.

    Labeled rows are random with at least two of every class, or, with ``balanced``, equally many of each.
    """
    draw = np.random.default_rng([seed, labels])
    order = draw.permutation(len(y))
    test = order[: min(int(TEST_SHARE * len(y)), MOST_TEST)]
    train = order[len(test) :]
    place = np.arange(len(train))
    if classes:
        order_in_class = np.empty(len(train), int)  # the number of earlier rows of the class
        for k in range(classes):
            mine = y[train] == k
            order_in_class[mine] = np.arange(mine.sum())
        first = order_in_class if balanced else np.where(order_in_class < 2, -1, 0)
        place = np.lexsort((place, first))
    chosen = np.zeros(len(train), bool)
    chosen[place[:labels]] = True
    return train[chosen], train[~chosen], test


def class_scores(probabilities: np.ndarray, y: np.ndarray) -> Numbers:
    """Return accuracy in per cent, log loss in nats, and expected calibration error in ten bins."""
    sure, right = probabilities.max(1), probabilities.argmax(1) == y
    return {
        "accuracy": 100 * float(right.mean()),
        "log_loss": float(-np.log(np.clip(probabilities[np.arange(len(y)), y], 1e-7, None)).mean()),
        "calibration": reliability(sure, right).error,
    }


def number_scores(guess: np.ndarray, y: np.ndarray) -> Numbers:
    """Return R² in per cent."""
    return {"accuracy": 100 * float(1 - ((guess - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())}
