"""What a user would do instead with the same labels: six methods of scikit-learn, with the usual preprocessing.

Each takes labelled rows, their labels (class numbers 0 ... K-1 or numbers), unlabelled rows and test rows, and returns
class probabilities ``(T, K)`` or numbers ``(T,)``. Without ``scaled`` the columns are taken as they are: pixels, words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from unknot.papers.own_data_fit import (
    COMMITTEE_ALONE,
    class_shares,
    fitted,
    full,
    labelled_data,
    real_columns,
    recognised,
)

Method = Callable[..., np.ndarray]  # (x, y, more, test, classes, seed)
_UNLABELLED = 2000  # rows that methods for unlabelled data look at beside the labelled ones


def ours(
    x: np.ndarray,
    y: np.ndarray,
    more: np.ndarray,
    test: np.ndarray,
    classes: int,
    seed: int,
    *,
    steps: int | None = None,
) -> np.ndarray:
    """The library's defaults for a table; ``steps`` only where it must be quick."""
    return _structured(x, y, more, test, classes, seed, {} if steps is None else {"steps": steps})


def alone(
    x: np.ndarray, y: np.ndarray, more: np.ndarray, test: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """The same committee, its recognisers trained on the labels alone: no generative model, no unlabelled rows but in
    the columns' statistics."""
    return _structured(x, y, more, test, classes, seed, {"objective": COMMITTEE_ALONE})


def linear(
    x: np.ndarray,
    y: np.ndarray,
    more: np.ndarray,
    test: np.ndarray,
    classes: int,
    seed: int,
    scaled: bool = True,
) -> np.ndarray:
    """Logistic regression as it comes, or ridge regression with a cross-validated strength."""
    from sklearn.linear_model import LogisticRegression, RidgeCV

    model = LogisticRegression(max_iter=2000) if classes else RidgeCV(np.logspace(-2, 3, 11))
    return _sklearn(model, x, y, test, classes, scaled)


def forest(
    x: np.ndarray,
    y: np.ndarray,
    more: np.ndarray,
    test: np.ndarray,
    classes: int,
    seed: int,
    scaled: bool = True,
) -> np.ndarray:
    """A random forest of 200 trees."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if classes else RandomForestRegressor
    return _sklearn(kind(200, random_state=seed), x, y, test, classes, scaled)


def boosting(
    x: np.ndarray, y: np.ndarray, more: np.ndarray, test: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """Gradient boosting as it comes."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
    return _sklearn(kind(random_state=seed), x, y, test, classes)


def spreading(
    x: np.ndarray, y: np.ndarray, more: np.ndarray, test: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """Label spreading over seven neighbours, of labelled and unlabelled rows."""
    from sklearn.semi_supervised import LabelSpreading

    return _with_unlabelled(LabelSpreading(kernel="knn", n_neighbors=7), x, y, more, test, classes)


def self_training(
    x: np.ndarray,
    y: np.ndarray,
    more: np.ndarray,
    test: np.ndarray,
    classes: int,
    seed: int,
    scaled: bool = True,
) -> np.ndarray:
    """Logistic regression that takes its own sure answers (.9) for labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    model = SelfTrainingClassifier(LogisticRegression(max_iter=1000), threshold=0.9)
    return _with_unlabelled(model, x, y, more, test, classes, scaled)


def naive_bayes(
    x: np.ndarray,
    y: np.ndarray,
    more: np.ndarray,
    test: np.ndarray,
    classes: int,
    seed: int,
    scaled: bool = False,
) -> np.ndarray:
    """Multinomial naive Bayes, for counts or tf-idf of words."""
    from sklearn.naive_bayes import MultinomialNB

    return _sklearn(MultinomialNB(), x, y, test, classes, scaled=False)


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


def _structured(
    x: np.ndarray,
    y: np.ndarray,
    more: np.ndarray,
    test: np.ndarray,
    classes: int,
    seed: int,
    settings: Mapping[str, Any],
) -> np.ndarray:
    rows = np.concatenate([x, more]).astype(np.float32)
    unknown = np.full(len(more), -1 if classes else np.nan)
    labels = np.concatenate([y, unknown]).astype(np.int64 if classes else np.float32)
    data = labelled_data(rows, {"label": labels}, real_columns(rows))
    model = fitted(data, seed, settings, {"committee": {}} if "objective" in settings else {})
    return class_shares(model, "label", test, classes) if classes else recognised(model, "label", test)[:, 0]


def _prepared(x: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Holes filled by the mean and columns standardised, by the labelled rows."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    usual = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()).fit(x)
    return [usual.transform(one) for one in (x, *others)]


def _sklearn(
    model: Any, x: np.ndarray, y: np.ndarray, test: np.ndarray, classes: int, scaled: bool = True
) -> np.ndarray:
    x, test = _prepared(x, test) if scaled else (x, test)
    model.fit(x, y)
    return full(model.predict_proba(test), model.classes_, classes) if classes else model.predict(test)


def _with_unlabelled(
    model: Any,
    x: np.ndarray,
    y: np.ndarray,
    more: np.ndarray,
    test: np.ndarray,
    classes: int,
    scaled: bool = True,
) -> np.ndarray:
    more = more[:_UNLABELLED]
    x, more, test = _prepared(x, more, test) if scaled else (x, more, test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that no label reaches, trainings that stop early
        model.fit(np.concatenate([x, more]), np.concatenate([y, np.full(len(more), -1)]))
        shares = np.nan_to_num(model.predict_proba(test)) + 1e-3
    return full(shares, model.classes_, classes)
