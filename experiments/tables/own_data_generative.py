"""own-data-generative: imputation, outlier detection and compression by the default model and by scikit-learn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import fitted, labeled_data, real_columns
from experiments.tables.own_data_sets import GROUPS, Rows, read
from unknot.data.sets.loading import load
from unknot.workflow.evaluation import log_evidence

HIDDEN = 0.2  # share of the entries that are removed
LABELS = 100
_GAPS = ("breast_cancer", "wine", "fgl", "diabetes", "Boston", "concrete")
_OUTLIERS = ("breast_cancer", "wine", "fgl", "diabetes", "Boston", "concrete")
_FILLERS = ("ours", "iterative", "neighbors", "mean")
_DETECTORS = ("ours", "isolation forest", "local outlier factor")


def cases(tier: Tier) -> list[Case]:
    """Return tables with missing values, tables with outliers, and Frey's faces."""
    found: list[Case] = []
    for task, items, methods in (("gaps", _GAPS, _FILLERS), ("outliers", _OUTLIERS, _DETECTORS)):
        for item in items[1:2] if tier == "smoke" else items:
            for method in methods[:2] if tier == "smoke" else methods:
                case = {
                    "row": f"{task}: {item}",
                    "column": method,
                    "task": task,
                    "item": item,
                    "method": method,
                }
                found.append({**case, "steps": 3} if tier == "smoke" else case)
    if tier != "smoke":
        for method in ("ours", "components", "mean"):
            row = {"row": "faces: Frey", "column": method, "task": "faces", "item": "frey", "method": method}
            found.append(row)
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """One method on one task."""
    start = time.process_time()
    more = {"steps": settings["steps"]} if "steps" in settings else {}
    task: dict[str, Callable[..., Numbers]] = {"gaps": _gaps, "outliers": _outliers, "faces": _faces}
    numbers = task[settings["task"]](settings["item"], settings["method"], seed, more)
    return {**numbers, "seconds": time.process_time() - start}


def _table(item: str) -> Rows:
    return read(next(one for one in GROUPS["tune"] if one.item == item))


def _gaps(item: str, method: str, seed: int, more: dict[str, Any]) -> Numbers:
    """Return the root mean square error of imputed entries of standardized columns."""
    rows = _table(item)
    x = _standard(rows.x)
    hidden = np.random.default_rng([seed, 2]).random(x.shape) < HIDDEN
    seen = np.where(hidden, np.nan, x).astype(np.float32)
    filled = _filled(method, seen, rows, seed, more)
    return {"rmse": float(np.sqrt(np.mean((filled[hidden] - x[hidden]) ** 2)))}


def _filled(method: str, seen: np.ndarray, rows: Rows, seed: int, more: dict[str, Any]) -> np.ndarray:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    if method == "ours":
        trained = fitted(labeled_data(seen, _labels(rows, seed), real_columns(seen)), seed, more)
        return trained.reconstruct(torch.from_numpy(seen)).numpy()
    usual = {
        "iterative": IterativeImputer(random_state=seed),
        "neighbors": KNNImputer(),
        "mean": SimpleImputer(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # imputation that has not converged
        return np.asarray(usual[method].fit_transform(seen))


def _outliers(item: str, method: str, seed: int, more: dict[str, Any]) -> Numbers:
    """Return the area under the ROC curve for test rows against the same rows with shuffled columns."""
    from sklearn.ensemble import IsolationForest
    from sklearn.metrics import roc_auc_score
    from sklearn.neighbors import LocalOutlierFactor

    rows = _table(item)
    x = _standard(rows.x).astype(np.float32)
    draw = np.random.default_rng([seed, 3])
    order = draw.permutation(len(x))
    true, train = order[: len(x) // 3], order[len(x) // 3 :]
    mixed = np.stack([draw.permutation(column) for column in x[true].T], 1)
    rows_to_score = np.concatenate([x[true], mixed])
    if method == "ours":
        labels = {name: values[train] for name, values in _labels(rows, seed, train).items()}
        data = labeled_data(x[train], labels, real_columns(x))
        score = log_evidence(fitted(data, seed, more), torch.from_numpy(rows_to_score)).numpy()
    elif method == "isolation forest":
        score = IsolationForest(random_state=seed).fit(x[train]).score_samples(rows_to_score)
    else:
        score = LocalOutlierFactor(novelty=True).fit(x[train]).score_samples(rows_to_score)
    return {"auc": float(roc_auc_score(np.arange(len(rows_to_score)) < len(true), score))}


def _faces(item: str, method: str, seed: int, more: dict[str, Any]) -> Numbers:
    """Return the reconstruction error of test faces from ten numbers, by ours without labels or by PCA."""
    from sklearn.decomposition import PCA

    images = load(item).x
    assert isinstance(images, torch.Tensor)
    x = (images.float() / 255).numpy()
    order = np.random.default_rng([seed, 4]).permutation(len(x))
    test, train = order[:300], order[300:]
    flat = x.reshape(len(x), -1)
    if method == "ours":
        data = labeled_data(images.numpy()[train], {})
        decoded = (
            fitted(data, seed, more).reconstruct(torch.from_numpy(x[test])).numpy().reshape(len(test), -1)
        )
    elif method == "components":
        components = PCA(10, random_state=seed).fit(flat[train])
        decoded = components.inverse_transform(components.transform(flat[test]))
    else:
        decoded = np.broadcast_to(flat[train].mean(0), flat[test].shape)
    unit = flat[train].std(0).mean()
    return {"rmse": float(np.sqrt(np.mean((decoded - flat[test]) ** 2)) / unit)}


def _standard(x: np.ndarray) -> np.ndarray:
    return np.asarray((x - x.mean(0)) / x.std(0))


def _labels(rows: Rows, seed: int, among: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return a hundred labels of the target of the table, unknown elsewhere."""
    chosen = np.random.default_rng([seed, 5]).permutation(len(rows.y) if among is None else among)[:LABELS]
    labels = np.full(len(rows.y), -1 if rows.classes else np.nan, np.int64 if rows.classes else np.float32)
    labels[chosen] = rows.y[chosen]
    return {"label": labels}


EXPERIMENT = Experiment(
    name="own-data-generative",
    place="this library",
    about="Imputation, outlier detection and compression of faces by the default model and by scikit-learn.",
    cases=cases,
    run=run,
    measures=(
        Measure("rmse", "root mean square error, in standard deviations", "", "lower", 3),
        Measure("auc", "area under the curve", "", "higher", 3),
        Measure("seconds", "CPU seconds", decimals=1),
    ),
    budgets={
        "smoke": "seconds",
        "quick": "about 10 CPU minutes for three seeds",
        "paper": "the same, with any number of seeds",
    },
)
