"""own-data: the default of every kind of data, compared with baselines of scikit-learn on the same labels."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.own_data.methods import LINEAR, OURS, methods_of
from experiments.own_data.overview import overview
from experiments.own_data.read_tables import SOURCES
from experiments.own_data.split import KINDS, groups
from experiments.own_data.task import draw, read
from unknot.metrics.prediction_error import reliability

LABELS = (30, 100)
PER_TYPE = "kidney cells"  # scored with five labels of every type too
MEASURES = (
    Measure("accuracy", "accuracy, of numbers R²", "%", "higher", 1),
    Measure("log_loss", "log loss", "nats", decimals=3),
    Measure("calibration", "calibration error", decimals=3),
    Measure("excess", "mean confidence minus accuracy", decimals=3),
    Measure("seconds", "CPU seconds of fit and prediction", decimals=1),
)
_SMOKE = ("sklearn/wine", "sklearn/diabetes")


def cases(tier: Tier) -> list[Case]:
    """Return every data set with 30 and 100 labels and every applicable method."""
    if tier == "smoke":
        return [
            _case("tune", "tables", name, 30, method, steps=5) for name in _SMOKE for method in (OURS, LINEAR)
        ]
    found: list[Case] = []
    for group, kind, name in _sets():
        numbers = name in SOURCES and SOURCES[name].numbers
        for labels in LABELS:
            found += [_case(group, kind, name, labels, method) for method in methods_of(kind, numbers)]
        if name == PER_TYPE:
            found += [_case(group, kind, name, 5, method, each=True) for method in methods_of(kind, numbers)]
    return found


def _sets() -> list[tuple[str, str, str]]:
    """Return groups, kinds and names, the kinds in turn, so that a part of a run has sets of every kind."""
    found = [
        (group, i, kind, name)
        for kind in KINDS
        for group, names in groups(kind).items()
        for i, name in enumerate(names)
    ]
    found.sort(key=lambda one: (one[0], one[1]))
    return [(group, kind, name) for group, _, kind, name in found]


def _case(
    group: str, kind: str, name: str, labels: int, method: str, each: bool = False, steps: int | None = None
) -> Case:
    of = " of each class" if each else ""
    return {
        "row": f"{group} {kind}: {name}, {labels} labels{of}",
        "column": method,
        "group": group,
        "kind": kind,
        "set": name,
        "labels": labels,
        "each": each,
        "method": method,
        **({} if steps is None else {"steps": steps}),
    }


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Score one method on the draw of a seed."""
    items = read(settings["kind"], settings["set"])
    labels = settings["labels"]
    task, truth = draw(
        items, settings["kind"], labels, seed, labels if settings["each"] else 0, settings.get("steps")
    )
    method = methods_of(task.kind, not task.classes)[settings["method"]]
    start = time.process_time()
    predictions = method(task)
    seconds = time.process_time() - start
    return {
        **(scores(predictions, truth) if task.classes else r_squared(predictions, truth)),
        "seconds": seconds,
    }


def scores(probabilities: np.ndarray, truth: np.ndarray) -> Numbers:
    """Return accuracy in per cent, log loss, calibration error in ten bins, and mean confidence minus accuracy."""
    sure, right = probabilities.max(1), probabilities.argmax(1) == truth
    of_truth = probabilities[np.arange(len(truth)), truth]
    return {
        "accuracy": 100 * float(right.mean()),
        "log_loss": float(-np.log(np.clip(of_truth, 1e-7, None)).mean()),
        "calibration": reliability(sure, right).error,
        "excess": float(sure.mean() - right.mean()),
    }


def r_squared(guess: np.ndarray, truth: np.ndarray) -> Numbers:
    """Return R² in per cent."""
    return {"accuracy": 100 * float(1 - ((guess - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())}


EXPERIMENT = Experiment(
    name="own-data",
    place="this library",
    about=(
        "The default of StructuredVAE on real tables, texts, pictures, wide rows and series, from 30 and 100 labels, "
        "compared with methods of scikit-learn on the same labels. Defaults were chosen on the sets of `tune`; those "
        "of `once` are scored once."
    ),
    cases=cases,
    run=run,
    measures=MEASURES,
    budgets={
        "smoke": "seconds",
        "quick": "about 40 CPU minutes for a draw of `once`, an hour and a half for one of `tune`",
        "paper": "the same, with any number of draws",
    },
    overview=overview,
)
