"""own-data: the defaults on real tables, compared with methods of scikit-learn on the same labels."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.tables.own_data_baselines import (
    CLASS_METHODS,
    NUMBER_METHODS,
    Task,
    class_scores,
    number_scores,
    split,
)
from experiments.tables.own_data_overview import cells_of, overview, rank_diagram, short
from experiments.tables.own_data_sets import GROUPS, Source, read
from unknot.plots.style import save

LABELS = (30, 100)
MEASURES = (
    Measure("accuracy", "accuracy, of numbers R²", "%", "higher", 1),
    Measure("log_loss", "log loss", "nats", decimals=3),
    Measure("calibration", "calibration error", decimals=3),
    Measure("seconds", "CPU seconds of fit and prediction", decimals=1),
)
# tables of scikit-learn for the smoke tier
_SMOKE = (Source("sklearn", "wine", "target"), Source("sklearn", "diabetes", "target", numbers=True))


def cases(tier: Tier) -> list[Case]:
    """Return every table with every number of labels and every applicable method."""
    groups = {"tune": _SMOKE} if tier == "smoke" else GROUPS
    found: list[Case] = []
    for group, sources in groups.items():
        for source in sources:
            for labels in LABELS[:1] if tier == "smoke" else LABELS:
                methods = list(NUMBER_METHODS if source.numbers else CLASS_METHODS)
                for method in ["ours", "linear"] if tier == "smoke" else methods:
                    case = _case(group, source, labels, method)
                    found.append({**case, "steps": 5} if tier == "smoke" and method == "ours" else case)
    return found


def _case(group: str, source: Source, labels: int, method: str) -> Case:
    return {
        "row": f"{group}: {source.name}, {labels} labels",
        "column": method,
        "group": group,
        "package": source.package,
        "item": source.item,
        "target": source.target,
        "without": list(source.without),
        "numbers": source.numbers,
        "labels": labels,
        "method": method,
    }


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Score one method on the split of a seed; odd seeds have balanced labels."""
    source = Source(
        settings["package"],
        settings["item"],
        settings["target"],
        tuple(settings["without"]),
        settings["numbers"],
    )
    rows = read(source)
    labeled, more, test = split(rows.y, rows.classes, settings["labels"], seed, balanced=seed % 2 == 1)
    task = Task(
        rows.x[labeled],
        rows.y[labeled],
        rows.x[more],
        rows.x[test],
        rows.classes,
        seed,
        steps=settings.get("steps"),
    )
    start = time.process_time()
    predictions = CLASS_METHODS[settings["method"]](task)
    seconds = time.process_time() - start
    score = class_scores if rows.classes else number_scores
    return {**score(predictions, rows.y[test]), "seconds": seconds}


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Draw average ranks by accuracy, for classes and numbers of each group with results of all methods."""
    for group in GROUPS:
        for numbers in (False, True):
            cells = cells_of(content, group, numbers)
            if len(cells) < 2:
                continue
            kind = "numbers" if numbers else "classes"
            keys = (
                {"accuracy": ".1f"}
                if numbers
                else {"accuracy": ".1f", "log_loss": ".3f", "calibration": ".3f"}
            )
            notes = {
                name: f"  ({', '.join(format(cells.mean(key, name), form) for key, form in keys.items())})"
                for name in cells.methods
            }
            title = f"{group}: {len(cells)} cells of {kind}"
            figure = rank_diagram(cells.value("accuracy"), cells.methods, title, notes)
            save(figure, folder / f"ranks-{group}-{kind}.png")


EXPERIMENT = Experiment(
    name="own-data",
    place="this library",
    about=(
        "The defaults of StructuredVAE on 58 real tables, from 30 and 100 labels, compared with six methods of "
        "scikit-learn on the same labels."
    ),
    cases=cases,
    run=run,
    measures=MEASURES,
    budgets={
        "smoke": "seconds",
        "quick": "about 120 CPU minutes for three splits, or an hour on two cores",
        "paper": "the same, with any number of splits",
    },
    plot=plot,
    overview=overview,
    short=short,
    captions={
        f"ranks-{group}-{kind}": (
            f"Average ranks by {'accuracy' if kind == 'classes' else 'R²'} on the group '{group}'; in brackets the "
            "means over its cells (accuracy or R² in per cent, log loss, calibration error)."
        )
        for group in GROUPS
        for kind in ("classes", "numbers")
    },
)
