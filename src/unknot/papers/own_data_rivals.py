"""What a user would do instead with the same labels: six methods of scikit-learn, with the usual preprocessing.

Each takes labelled rows, their labels (class numbers 0 ... K-1 or numbers), unlabelled rows and test rows, and returns
class probabilities ``(T, K)`` or numbers ``(T,)``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

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
    objective = {"name": "labels_alone", "alpha": 0.0}  # the committee's own terms of the labels remain
    return _structured(x, y, more, test, classes, seed, {"objective": objective})


def linear(
    x: np.ndarray, y: np.ndarray, more: np.ndarray, test: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """Logistic regression as it comes, or ridge regression with a cross-validated strength."""
    from sklearn.linear_model import LogisticRegression, RidgeCV

    model = LogisticRegression(max_iter=2000) if classes else RidgeCV(np.logspace(-2, 3, 11))
    return _sklearn(model, x, y, test, classes)


def forest(
    x: np.ndarray, y: np.ndarray, more: np.ndarray, test: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """A random forest of 200 trees."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if classes else RandomForestRegressor
    return _sklearn(kind(200, random_state=seed), x, y, test, classes)


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
    x: np.ndarray, y: np.ndarray, more: np.ndarray, test: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    """Logistic regression that takes its own sure answers (.9) for labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    model = SelfTrainingClassifier(LogisticRegression(max_iter=1000), threshold=0.9)
    return _with_unlabelled(model, x, y, more, test, classes)


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
    import torch

    from unknot.data.column import Column
    from unknot.data.dataset import Dataset
    from unknot.data.from_arrays import from_arrays
    from unknot.train.loop import fit
    from unknot.workflow.assembly import assemble

    rows = np.concatenate([x, more]).astype(np.float32)
    unknown = np.full(len(more), -1 if classes else np.nan)
    labels = np.concatenate([y, unknown]).astype(np.int64 if classes else np.float32)
    kind: Any = "categorical" if classes else "continuous"
    made = from_arrays(rows, {"label": labels}, kinds={"label": kind}, missing=True)
    columns = tuple(Column(f"column {i}", "real") for i in range(rows.shape[1]))
    data = Dataset("own data", made.x, made.ids, made.factors, table=columns)
    model: dict[str, Any] = {"committee": {}} if "objective" in settings else {}
    assembled = assemble(data, model, {"seed": seed, "progress": False, "device": "cpu", **settings})
    fit(assembled.trainee, data, assembled.config)
    assembled.trainee.eval()
    summary = assembled.model.recognise(torch.from_numpy(test.astype(np.float32))).summaries["label"].numpy()
    return (
        _full(summary, np.asarray(assembled.model.class_values("label")), classes)
        if classes
        else summary[:, 0]
    )


def _prepared(x: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Holes filled by the mean and columns standardised, by the labelled rows."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    usual = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()).fit(x)
    return [usual.transform(one) for one in (x, *others)]


def _sklearn(model: Any, x: np.ndarray, y: np.ndarray, test: np.ndarray, classes: int) -> np.ndarray:
    x, test = _prepared(x, test)
    model.fit(x, y)
    return _full(model.predict_proba(test), model.classes_, classes) if classes else model.predict(test)


def _with_unlabelled(
    model: Any, x: np.ndarray, y: np.ndarray, more: np.ndarray, test: np.ndarray, classes: int
) -> np.ndarray:
    x, more, test = _prepared(x, more[:_UNLABELLED], test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that no label reaches, trainings that stop early
        model.fit(np.concatenate([x, more]), np.concatenate([y, np.full(len(more), -1)]))
        shares = np.nan_to_num(model.predict_proba(test)) + 1e-3
    return _full(shares, model.classes_, classes)


def _full(shares: np.ndarray, present: np.ndarray, classes: int) -> np.ndarray:
    """Probabilities of all classes, of which some had no label."""
    found = np.full((len(shares), classes), 1e-7)
    found[:, present.astype(int)] = np.clip(shares, 1e-7, None)
    return found / found.sum(1, keepdims=True)
