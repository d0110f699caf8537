"""novelty: are items of a class that training did not have told apart from new items of the classes that it had?

One class of a set is left out of training. Its items and new items of the other classes are scored by p-values of
:meth:`StructuredVAE.novelty`, by one minus the largest class probability, and by an isolation forest on the numbers.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.own_data.items import take
from experiments.own_data.read_images import read_images
from experiments.own_data.read_series import read_series
from experiments.own_data.read_tables import read_table
from unknot import StructuredVAE

LABELS, MOST, LEFT_OUT = 60, 800, 3  # labels, items of a set, classes that are left out in turn
_READERS = {"tables": read_table, "images": read_images, "series": read_series}
_SETS = (
    ("tables", "sklearn/wine"),
    ("tables", "MASS/fgl"),
    ("tables", "Stat2Data/Hawks"),
    ("tables", "keel/vehicle"),
    ("images", "digits 8 x 8"),
    ("images", "Fashion-MNIST"),
    ("series", "CBF"),
    ("series", "CricketX"),
)


def cases(tier: Tier) -> list[Case]:
    """Return the data sets, all of ``tune``."""
    sets = _SETS[:1] if tier == "smoke" else _SETS
    steps = 2 if tier == "smoke" else 60
    return [{"row": item, "kind": kind, "item": item, "steps": steps} for kind, item in sets]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return the means over the classes that are left out."""
    start = time.process_time()
    items = _READERS[settings["kind"]](settings["item"]).at_most(MOST)
    counts = np.bincount(items.y, minlength=items.classes)
    largest = np.argsort(-counts, kind="stable")[:LEFT_OUT].tolist()
    model = {"kind": "ensemble", "folds": 3, "settings": [{"rank": False, "alpha": 3.0}]}
    more = {"steps": settings["steps"]} | ({"model": model} if settings["kind"] == "tables" else {})
    found = [_left_out(items.x, items.y, one, more, seed) for one in largest]
    numbers = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
    return {**numbers, "seconds": time.process_time() - start}


def _left_out(x: Any, y: np.ndarray, left_out: int, more: dict[str, Any], seed: int) -> Numbers:
    draw = np.random.default_rng([seed, left_out])
    others = draw.permutation(np.flatnonzero(y != left_out))
    trained, new = np.split(others, [2 * len(others) // 3])
    scored = np.concatenate([new, np.flatnonzero(y == left_out)])
    is_new_class = y[scored] == left_out
    labels = np.where(np.arange(len(trained)) < LABELS, y[trained], -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said of single columns
        vae = StructuredVAE(**more, seed=seed, verbose=False, verdict=False)
        vae.fit(take(x, trained), label=labels)
        values, sure = vae.novelty(take(x, scored)), vae.predict_proba(take(x, scored)).max(1)
    isolated = _isolation(_numbers(x, trained), _numbers(x, scored), seed)
    return {
        "ours": _area(is_new_class, 1 - values),
        "softmax": _area(is_new_class, 1 - sure),
        "forest": _area(is_new_class, isolated),
        "alarms": 100 * float((values[~is_new_class] <= 0.05).mean()),
    }


def _area(is_new_class: np.ndarray, score: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    return 100 * float(roc_auc_score(is_new_class, score))


def _isolation(trained: np.ndarray, scored: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    return -np.asarray(IsolationForest(random_state=seed).fit(trained).score_samples(scored))


def _numbers(x: Any, rows: np.ndarray) -> np.ndarray:
    """Return items as rows of numbers: words as codes, and missing entries as zero."""
    chosen = take(x, rows)
    if hasattr(chosen, "iloc"):
        import pandas as pd

        words = {name: pd.factorize(x[name])[0][rows] for name in x if x[name].dtype.kind not in "biuf"}
        chosen = chosen.assign(**words).to_numpy(np.float64)
    return np.nan_to_num(np.asarray(chosen, np.float64).reshape(len(rows), -1))


EXPERIMENT = Experiment(
    name="novelty",
    place="this library",
    about="Items of a class that training did not have against new items of the other classes: area under the ROC "
    "curve of novelty, of the largest class probability and of an isolation forest; 60 labels, three classes left out "
    "in turn, default models of 60 steps, of tables with one member.",
    cases=cases,
    run=run,
    measures=(
        Measure("ours", "novelty", "AUROC, %", "higher", 1),
        Measure("softmax", "one minus the largest probability", "AUROC, %", "higher", 1),
        Measure("forest", "isolation forest", "AUROC, %", "higher", 1),
        Measure("alarms", "new items of known classes with a novelty of at most .05", "%", decimals=1),
        Measure("seconds", "CPU seconds", decimals=0),
    ),
    budgets={"smoke": "seconds", "quick": "about 3 CPU minutes a seed", "paper": "the same"},
)
