"""table-counterfactuals: the measurements of penguins with another species."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import fitted, labeled_data
from experiments.tables.own_data_sets import Source, frame
from unknot.data.dataset import Column
from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REAL = "#8a94a3"  # color of real rows
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
    """Return measurements of penguins of three species, without their island, which determines the species."""
    data = frame(_PENGUINS).dropna(subset=[*_MEASURED, _TARGET])
    classes = sorted(data[_TARGET].unique().tolist())
    y = data[_TARGET].map({name: k for k, name in enumerate(classes)}).to_numpy(int)
    return Table(tuple(_MEASURED.values()), tuple(classes), data[list(_MEASURED)].to_numpy(float), y)


def irises() -> Table:
    """Return the irises, for the smoke tier."""
    from sklearn.datasets import load_iris

    found = load_iris()
    names = tuple(str(name) for name in found.feature_names)
    return Table(names, tuple(map(str, found.target_names)), np.asarray(found.data), np.asarray(found.target))


TABLES: dict[str, Callable[[], Table]] = {"penguins": penguins, "irises": irises}


def by_model(table: Table, train: np.ndarray, shown: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Return rows with another class and the same style, ``(N, K, D)``, by the default model."""
    labels = np.where(np.isin(train, shown), table.y[train], -1)
    columns = [Column(name, "real") for name in table.columns]
    model = fitted(labeled_data(table.x[train], {_TARGET: labels}, columns), seed)
    asked = torch.from_numpy(table.x[test]).float()
    return model.vary(asked, _TARGET, torch.arange(len(table.classes))).numpy()


def by_means(table: Table, train: np.ndarray, shown: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Return rows plus the difference of the means of the labeled rows of both classes."""
    means = _means(table, shown)
    return table.x[test][:, None] + means[None] - means[table.y[test]][:, None]


def by_neighbor(
    table: Table, train: np.ndarray, shown: np.ndarray, test: np.ndarray, seed: int
) -> np.ndarray:
    """Return the nearest labeled row of the other class, in standard deviations."""
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
    """Return ours and two baselines, for both numbers of labels."""
    data = "irises" if tier == "smoke" else "penguins"
    return [
        {"row": row, "column": column, "data": data, "labels": number, "method": row}
        for column, number in COLUMNS.items()
        for row in METHODS
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Change the class of every test row, and compare the results with the real rows of that class."""
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
    """Compare changed rows ``(N, K, D)`` with real rows of the same class.

    Returns
    -------
    dict
        - ``read``: per cent that a logistic regression on all training labels predicts as the new class.
        - ``mean_gap``: root mean square difference of the means, in standard deviations within a class.
        - ``spread``: standard deviation within a class relative to real rows, mean over columns.
        - ``kept``: correlation of the deviations from the class before and after, mean over columns.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(
        table.x[train], table.y[train]
    )
    means = _means(table, test)
    unit = np.sqrt(np.mean([table.x[train][table.y[train] == k].var(0) for k in range(len(means))], 0))
    right, gaps, spreads, kept = [], [], [], []
    for k in range(len(means)):
        moved = changed[table.y[test] != k, k]
        right.append(classifier.predict(moved) == k)
        gaps.append((moved.mean(0) - means[k]) / unit)
        real = table.x[test][table.y[test] == k]
        for j in range(len(means)):
            if j != k:
                before, after = table.x[test][table.y[test] == j], changed[table.y[test] == j, k]
                spreads.append(after.std(0) / real.std(0))
                kept.append([_correlation(before[:, d], after[:, d]) for d in range(before.shape[1])])
    return {
        "read": 100 * float(np.concatenate(right).mean()),
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
    """Return the first rows of each class, equally many of each."""
    each = count // len(table.classes)
    return np.concatenate([rows[table.y[rows] == k][:each] for k in range(len(table.classes))])


def changed_columns(
    columns: Sequence[str],
    classes: Sequence[str],
    rows: np.ndarray,
    own: np.ndarray,
    changed: np.ndarray,
    title: str = "",
) -> Figure:
    """Draw a panel for each column of rows ``(N, D)`` of classes ``own``, changed to every class: ``(N, K, D)``.

    Gray: real rows of a class; in the color of their class: other rows changed to it. Bars are means.
    """
    figure = new_figure(max(2.3 * len(columns), 4), 3.1)
    panels = figure.subplots(1, len(columns), squeeze=False)[0]
    for d, (axes, column) in enumerate(zip(panels, columns, strict=True)):
        for k in range(len(classes)):
            strips = [(rows[own == k, d], _REAL)]
            strips += [
                (changed[own == j, k, d], COLORS[j % len(COLORS)]) for j in range(len(classes)) if j != k
            ]
            for place, (values, color) in enumerate(strips):
                _strip(
                    axes, k + (place - (len(strips) - 1) / 2) * 0.8 / len(strips), values, color, len(strips)
                )
        axes.set_xticks(range(len(classes)), list(classes), fontsize=8, rotation=20)
        axes.set_title(column, fontsize=9, color=INK)
        quiet(axes)
        axes.grid(False, axis="x")
    _legend(figure, classes)
    if title:
        figure.suptitle(title, fontsize=10, color=INK)
    return figure


def _strip(axes: Axes, place: float, values: np.ndarray, color: str, count: int) -> None:
    """Draw values as dots, and their mean as a bar."""
    values = values[~np.isnan(values)]
    if not len(values):
        return
    half = 0.3 / count
    across = place + half * np.random.default_rng(0).uniform(-1, 1, len(values))
    axes.scatter(across, values, s=5, color=color, alpha=0.45, linewidths=0)
    axes.plot([place - half * 1.2, place + half * 1.2], [values.mean()] * 2, color=color, linewidth=2.2)


def _legend(figure: Figure, classes: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    names = ["real rows of the class", *(f"{name}, changed" for name in classes)]
    shades = [_REAL, *(COLORS[j % len(COLORS)] for j in range(len(classes)))]
    marks = [Line2D([], [], color=shade, marker="o", markersize=4, linewidth=2) for shade in shades]
    figure.legend(
        marks, names, loc="outside lower center", ncols=len(names), fontsize=8, frameon=False, labelcolor=INK
    ).get_frame().set_edgecolor(FAINT)


EXPERIMENT = Experiment(
    name="table-counterfactuals",
    place="this library",
    about="342 penguins of three species with four measurements; a third of them are changed to every other species.",
    cases=cases,
    run=run,
    measures=(
        Measure("read", "classified as the new class", "%", "higher", decimals=1),
        Measure("mean_gap", "distance from the means of the class, in standard deviations"),
        Measure("spread", "standard deviation within a class relative to real rows", "", "higher"),
        Measure("kept", "correlation of deviations from the class before and after", "", "higher"),
    ),
    budgets={"smoke": "seconds", "quick": "about half a CPU minute a seed"},
    captions={
        "changed": (
            "One panel per measurement. For each species, gray: real test birds; colored by their own species: other "
            "birds changed to it. Bars are means."
        )
    },
)
