"""own-data-more: the defaults on images, words, categories, missing values, and two factors with separate labels."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import ENSEMBLE_ALONE, LABELS_ALONE, class_probabilities, fitted, labeled_data
from experiments.tables.own_data_baselines import (
    Method,
    Task,
    class_scores,
    forest,
    linear,
    linear_after_regression,
    naive_bayes,
    self_training,
    split,
)
from experiments.tables.own_data_items import HOLED, READERS, Items
from unknot.workflow.default_models import ALPHA, Images

Shares = dict[str, np.ndarray]
TWO_VIEWS_ALONE = "labels and two views alone"
_USUAL = ("ours", "labels alone", "linear", "forest", "self-training")
# kind, data, labels (of each factor), methods
_CASES: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    ("images", "digits, 8 x 8", 100, (*_USUAL, TWO_VIEWS_ALONE)),
    ("images", "Olivetti faces, 32 x 32", 120, (*_USUAL, TWO_VIEWS_ALONE)),
    # for words naive Bayes is the default model on the labels alone
    ("words", "20 Newsgroups", 200, ("ours", "naive Bayes", "linear", "forest", "self-training")),
    ("categories", "vcdExtra/Titanicp", 100, _USUAL),
    ("categories", "carData/Chile", 100, _USUAL),
    ("categories", "AER/HMDA", 100, _USUAL),
    *(
        ("holes", f"{item}, two fifths missing", 100, (*_USUAL, "linear, gaps filled by regression"))
        for item in HOLED
    ),
    ("two factors", "digits, images", 100, (*_USUAL, "ours, one at a time", TWO_VIEWS_ALONE)),
    ("two factors", "digits, table", 100, (*_USUAL, "ours, one at a time")),
    ("two factors", "Hawks", 100, (*_USUAL, "ours, one at a time")),
)
_BASELINES: Mapping[str, Method] = {
    "linear": linear,
    "forest": forest,
    "self-training": self_training,
    "naive Bayes": naive_bayes,
    "linear, gaps filled by regression": linear_after_regression,
}


def cases(tier: Tier) -> list[Case]:
    """Return every kind of data with every applicable method."""
    found: list[Case] = []
    for kind, item, labels, methods in _CASES:
        if tier == "smoke" and item != "digits, table":
            continue
        for method in ("ours", "linear") if tier == "smoke" else methods:
            row = f"{kind}: {item}, {' + '.join([str(labels)] * (2 if kind == 'two factors' else 1))} labels"
            case = {"row": row, "column": method, "item": item, "labels": labels, "method": method}
            found.append({**case, "steps": 3} if tier == "smoke" else case)
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Score one method on one split: the mean over factors, and each of two factors."""
    items = READERS[settings["item"]]()
    known, train, test = draw_labels(items, settings["labels"], seed)
    start = time.process_time()
    more = {"steps": settings["steps"]} if "steps" in settings else {}
    method = settings["method"]
    if method in _BASELINES:
        predictions = _baseline(_BASELINES[method], items, known, train, test, seed)
    elif method == "ours, one at a time":
        predictions = {
            name: _ours(items, {name: rows}, train, test, seed, "ours", more)[name]
            for name, rows in known.items()
        }
    else:
        predictions = _ours(items, known, train, test, seed, method, more)
    seconds = time.process_time() - start
    scores = [class_scores(shares, items.labels[name][test]) for name, shares in predictions.items()]
    numbers = {key: float(np.mean([one[key] for one in scores])) for key in scores[0]}
    if len(scores) == 2:
        numbers |= {"first": scores[0]["accuracy"], "second": scores[1]["accuracy"]}
    return {**numbers, "seconds": seconds}


def draw_labels(items: Items, labels: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Return disjoint labeled rows for each factor, all training rows, and test rows."""
    known: dict[str, np.ndarray] = {}
    first, *others = items.labels
    count = len(items.labels)
    balanced = items.classes(first) > 10  # few labels of many classes
    chosen, rest, test = split(items.labels[first], items.classes(first), labels * count, seed, balanced)
    order = np.random.default_rng([seed, 1]).permutation(chosen)
    for i, name in enumerate((first, *others)):
        known[name] = order[i * labels : (i + 1) * labels]
    return known, np.concatenate([chosen, rest]), test


def _ours(
    items: Items,
    known: Mapping[str, np.ndarray],
    train: np.ndarray,
    test: np.ndarray,
    seed: int,
    method: str,
    more: Mapping[str, Any],
) -> Shares:
    """Return predictions of the default model with all factors at once."""
    labels = {}
    for name, rows in known.items():
        column = np.full(len(items.x), -1, np.int64)
        column[rows] = items.labels[name][rows]
        labels[name] = column[train]
    model: dict[str, Any] = {}
    settings = dict(more)
    if method == "labels alone":
        model = {"kind": "ensemble" if items.table else "class_style"}
        settings["objective"] = ENSEMBLE_ALONE if items.table else LABELS_ALONE
    elif method == TWO_VIEWS_ALONE:
        model = {"kind": "images"}
        settings["objective"] = {**LABELS_ALONE, "alpha": ALPHA, "regularizers": Images.AGREEMENT}
    x = items.x.astype(np.float32) if items.table else items.x
    trained = fitted(labeled_data(x[train], labels, items.table), seed, settings, model)
    return {name: class_probabilities(trained, name, x[test], items.classes(name)) for name in known}


def _baseline(
    method: Method,
    items: Items,
    known: Mapping[str, np.ndarray],
    train: np.ndarray,
    test: np.ndarray,
    seed: int,
) -> Shares:
    """Return predictions of another method, for each factor separately."""
    predictions = {}
    for name, rows in known.items():
        more = np.setdiff1d(train, rows)
        x, y = items.plain, items.labels[name]
        task = Task(x[rows], y[rows], x[more], x[test], items.classes(name), seed, scaled=bool(items.table))
        predictions[name] = method(task)
    return predictions


EXPERIMENT = Experiment(
    name="own-data-more",
    place="this library",
    about=(
        "The defaults on small images, words, tables with categories or missing values, and two factors with labels of "
        "different items, compared with scikit-learn on the same labels."
    ),
    cases=cases,
    run=run,
    measures=(
        Measure("accuracy", "accuracy, mean over factors", "%", "higher", 1),
        Measure("first", "accuracy of the first of two factors", "%", "higher", 1),
        Measure("second", "accuracy of the second", "%", "higher", 1),
        Measure("log_loss", "log loss", "nats", decimals=3),
        Measure("calibration", "calibration error", decimals=3),
        Measure("seconds", "CPU seconds of fit and prediction", decimals=1),
    ),
    budgets={
        "smoke": "seconds",
        "quick": "about 30 CPU minutes for three splits",
        "paper": "the same, with any number of splits",
    },
)
