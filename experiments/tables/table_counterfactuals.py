"""table-counterfactuals: the same penguin, were it of another species? Which columns move, and how far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit_defaults import fitted, labeled_data
from experiments.tables.changed_columns import changed_columns
from experiments.tables.own_data_sets import Source, frame
from unknot.data.dataset import Column
from unknot.plots.style import save

OURS = "Unknot, the default of a table"
COLUMNS = {"all labels": None, "30 labels": 30}
_TARGET = "species"
_PENGUINS = Source("modeldata", "penguins", _TARGET)
_MEASURED = {
    "bill_length_mm": "bill length (mm)",
    "bill_depth_mm": "bill depth (mm)",
    "flipper_length_mm": "flipper (mm)",
    "body_mass_g": "body mass (g)",
}


@dataclass(frozen=True)
class Table:
    """Complete rows ``x`` (N, D) with their classes ``y`` (N,)."""

    columns: tuple[str, ...]
    classes: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray


def penguins() -> Table:
    """What was measured of penguins of three species; where they live would give the species away."""
    data = frame(_PENGUINS).dropna(subset=[*_MEASURED, _TARGET])
    classes = sorted(data[_TARGET].unique().tolist())
    y = data[_TARGET].map({name: k for k, name in enumerate(classes)}).to_numpy(int)
    return Table(tuple(_MEASURED.values()), tuple(classes), data[list(_MEASURED)].to_numpy(float), y)


def irises() -> Table:
    """A table that needs no package beside scikit-learn."""
    from sklearn.datasets import load_iris

    found = load_iris()
    names = tuple(str(name) for name in found.feature_names)
    return Table(names, tuple(map(str, found.target_names)), np.asarray(found.data), np.asarray(found.target))


TABLES: dict[str, Callable[[], Table]] = {"penguins": penguins, "irises": irises}


def by_model(table: Table, train: np.ndarray, shown: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Rows with another class and the same style, ``(N, K, D)``; the model sees all training rows, some with labels."""
    labels = np.where(np.isin(train, shown), table.y[train], -1)
    columns = [Column(name, "real") for name in table.columns]
    model = fitted(labeled_data(table.x[train], {_TARGET: labels}, columns), seed)
    asked = torch.from_numpy(table.x[test]).float()
    return model.vary(asked, _TARGET, torch.arange(len(table.classes))).numpy()


def by_means(table: Table, train: np.ndarray, shown: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Rows moved by the difference of the labeled rows' means of the two classes."""
    means = _means(table, shown)
    return table.x[test][:, None] + means[None] - means[table.y[test]][:, None]


def by_neighbor(
    table: Table, train: np.ndarray, shown: np.ndarray, test: np.ndarray, seed: int
) -> np.ndarray:
    """The labeled row of the other class that is nearest, in units of each column."""
    unit = table.x[shown].std(0)
    found = []
    for k in range(len(table.classes)):
        there = table.x[shown[table.y[shown] == k]]
        gap = ((table.x[test][:, None] - there) / unit) ** 2
        found.append(there[gap.sum(-1).argmin(1)])
    return np.stack(found, 1)


METHODS = {
    OURS: by_model,
    "moved by the difference of the classes' means": by_means,
    "the nearest labeled row of the class": by_neighbor,
}


def cases(tier: Tier) -> list[Case]:
    """Ours and two things that anybody can do, for both amounts of labels."""
    data = "irises" if tier == "smoke" else "penguins"
    return [
        {"row": row, "column": column, "data": data, "labels": number, "method": row}
        for column, number in COLUMNS.items()
        for row in METHODS
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Change the class of every test row, and look at it beside the real rows of that class."""
    table = TABLES[settings["data"]]()
    order = np.random.default_rng(seed).permutation(len(table.x))
    test, train = order[: len(order) // 3], order[len(order) // 3 :]
    shown = train if settings["labels"] is None else _balanced(table, train, settings["labels"])
    changed = METHODS[settings["method"]](table, train, shown, test, seed)
    if pictures is not None:
        labels = "all" if settings["labels"] is None else settings["labels"]
        title = f"{settings['data']}, {labels} labels: each test row changed to every other class"
        figure = changed_columns(table.columns, table.classes, table.x[test], table.y[test], changed, title)
        save(figure, pictures / "changed.png")
    return scores(table, train, test, changed)


def scores(table: Table, train: np.ndarray, test: np.ndarray, changed: np.ndarray) -> Numbers:
    """Rows that were of another class before, ``(N, K, D)`` with all classes, beside the real ones.

    * ``read``: per cent that a logistic regression on all training labels reads as the class they were changed to;
    * ``mean_gap``: how far their means are from those of the real test rows of that class, root mean square over
      classes and columns, in standard deviations of a column within a class;
    * ``spread``: their standard deviation within a class over that of the real rows, mean of the columns: 1 is right;
    * ``kept``: correlation, over rows of one class changed to another, of a row's deviation from its class before and
      after, mean of the columns: 1 if a large one stays a large one.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    reader = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(
        table.x[train], table.y[train]
    )
    means = _means(table, test)
    unit = np.sqrt(np.mean([table.x[train][table.y[train] == k].var(0) for k in range(len(means))], 0))
    read, gaps, spreads, kept = [], [], [], []
    for k in range(len(means)):
        moved = changed[table.y[test] != k, k]
        read.append(reader.predict(moved) == k)
        gaps.append((moved.mean(0) - means[k]) / unit)
        real = table.x[test][table.y[test] == k]
        for j in range(len(means)):
            if j != k:
                before, after = table.x[test][table.y[test] == j], changed[table.y[test] == j, k]
                spreads.append(after.std(0) / real.std(0))
                kept.append([_correlation(before[:, d], after[:, d]) for d in range(before.shape[1])])
    return {
        "read": 100 * float(np.concatenate(read).mean()),
        "mean_gap": float(np.sqrt(np.mean(np.square(gaps)))),
        "spread": float(np.mean(spreads)),
        "kept": float(np.mean(kept)),
    }


def _correlation(one: np.ndarray, two: np.ndarray) -> float:
    if one.std() == 0 or two.std() == 0:
        return 0.0
    return float(np.corrcoef(one, two)[0, 1])


def _means(table: Table, rows: np.ndarray) -> np.ndarray:
    return np.stack([table.x[rows[table.y[rows] == k]].mean(0) for k in range(len(table.classes))])


def _balanced(table: Table, rows: np.ndarray, count: int) -> np.ndarray:
    """The first rows of each class, as many of each."""
    each = count // len(table.classes)
    return np.concatenate([rows[table.y[rows] == k][:each] for k in range(len(table.classes))])


EXPERIMENT = Experiment(
    name="table-counterfactuals",
    place="no paper: the promise, on a table",
    about="342 penguins of three species, four measurements: each of a third of them as if of another species.",
    cases=cases,
    run=run,
    measures=(
        Measure("read", "read as the class they were changed to", "%", "higher", decimals=1),
        Measure("mean_gap", "distance of their means from the real class's, in standard deviations"),
        Measure("spread", "spread within a class over that of real rows (1 is right)", "", "higher"),
        Measure("kept", "correlation of a row's place in its class before and after", "", "higher"),
    ),
    budgets={"smoke": "seconds", "quick": "about half a CPU minute a seed", "paper": "the same"},
    captions={
        "changed": (
            "One panel a measurement. For each species, gray: its real birds in the test; colored by the species that "
            "they are: the other birds, changed to it. Bars are means: a change is right on average where the colored "
            "bars are level with the gray one, and tells each bird apart where the dots are spread like the gray ones."
        )
    },
)
