"""Tables of own-data: for each kind and group the means by method over all cells with every method; and the goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.ledger.result_tables import table_lines
from experiments.own_data.methods import LINEAR, OURS
from experiments.own_data.split import KINDS

GROUPS = ("once", "tune")  # what says most first
WORST = -100.0  # per cent; the smallest R² of a cell in a mean
FAR = 0.05  # of confidence and accuracy, and the largest mean calibration error
BELOW = -2.0  # points below the linear model that no set may be
_MEANS = {
    "accuracy (%)": ("accuracy", 1),
    "log loss": ("log_loss", 3),
    "calibration error": ("calibration", 3),
    "confidence minus accuracy": ("excess", 3),
    "CPU seconds": ("seconds", 1),
}


class CellTable:
    """The cells of one kind and group that every method has been run on: rows of N sets, columns of M ``methods``.

    Parameters
    ----------
    found : sequence of mapping
        Entries of a result's summary, of classes or of numbers.
    """

    def __init__(self, found: Sequence[Mapping[str, Any]]) -> None:
        self.methods = list(dict.fromkeys(one["case"]["column"] for one in found))
        rows: dict[str, dict[str, Mapping[str, Any]]] = {}
        for one in found:
            rows.setdefault(one["case"]["row"], {})[one["case"]["column"]] = one
        self.lines = [line for line in rows.values() if OURS in line and len(line) == len(self.methods)]
        self.sets = [line[OURS]["case"]["set"] for line in self.lines]

    def __len__(self) -> int:
        return len(self.lines)

    def value(self, key: str) -> np.ndarray:
        """Return a measure, ``(N, M)``."""
        found = [[line[m]["numbers"][key]["mean"] for m in self.methods] for line in self.lines]
        return np.maximum(np.array(found), WORST) if key == "accuracy" else np.array(found)

    def mean(self, key: str) -> dict[str, float]:
        """Return the mean of a measure over sets by method."""
        return dict(zip(self.methods, self.value(key).mean(0).tolist(), strict=True))

    def ahead(self) -> dict[str, float]:
        """Return the accuracy of ours minus that of the linear model by set, in points."""
        value, sets = self.value("accuracy"), np.array(self.sets)
        gap = value[:, self.methods.index(OURS)] - value[:, self.methods.index(LINEAR)]
        return {name: float(gap[sets == name].mean()) for name in dict.fromkeys(self.sets)}


def overview(content: Mapping[str, Any]) -> list[str]:
    """Return tables in Markdown: the goals by kind for each group, then means by method."""
    lines: list[str] = []
    for group in GROUPS:
        tables = {kind: _cells(content, group, kind, numbers=False) for kind in KINDS}
        there = {kind: cells for kind, cells in tables.items() if len(cells)}
        if there:
            lines += _goals(group, there)
        for kind in KINDS:
            for numbers in (False, True):
                cells = _cells(content, group, kind, numbers)
                if len(cells):
                    lines += _means(group, kind, numbers, cells)
    return lines


def _cells(content: Mapping[str, Any], group: str, kind: str, numbers: bool) -> CellTable:
    def belongs(one: Mapping[str, Any]) -> bool:
        case = one["case"]
        return (case["group"], case["kind"], "log_loss" not in one["numbers"]) == (group, kind, numbers)

    return CellTable([one for one in content["summary"] if belongs(one)])


def _means(group: str, kind: str, numbers: bool, cells: CellTable) -> list[str]:
    measures = {"R² (%)": ("accuracy", 1), "CPU seconds": _MEANS["CPU seconds"]} if numbers else _MEANS
    body = []
    for method in cells.methods:
        shown = [f"{cells.mean(key)[method]:.{decimals}f}" for key, decimals in measures.values()]
        body.append([method, *shown])
    what = "numbers" if numbers else "classes"
    title = f"{group}, {kind}: {what}, {len(set(cells.sets))} sets, {len(cells)} cells"
    return table_lines([title, *measures], body)


def _goals(group: str, tables: Mapping[str, CellTable]) -> list[str]:
    lines = [[title, *(of(cells) for cells in tables.values())] for title, of in _GOALS.items()]
    return table_lines([f"goal, {group}", *tables], lines)


def _best(cells: CellTable) -> str:
    means = cells.mean("accuracy")
    best = max(value for name, value in means.items() if name != OURS)
    return _marked(means[OURS] >= best, f"{means[OURS] - best:+.1f}")


def _worst(cells: CellTable) -> str:
    name, worst = min(cells.ahead().items(), key=lambda item: item[1])
    return _marked(worst >= BELOW, f"{worst:+.1f} ({name})")


def _log_loss(cells: CellTable) -> str:
    means = cells.mean("log_loss")
    best = min(value for name, value in means.items() if name != OURS)
    return _marked(means[OURS] <= best, f"{means[OURS] - best:+.3f}")


def _calibration(cells: CellTable) -> str:
    error = cells.mean("calibration")[OURS]
    return _marked(error <= FAR, f"{error:.3f}")


def _confidence(cells: CellTable) -> str:
    excess = cells.mean("excess")[OURS]
    return _marked(abs(excess) <= FAR, f"{excess:+.3f}")


def _marked(reached: bool, text: str) -> str:
    return text if reached else f"**miss** {text}"


_GOALS = {
    "accuracy: at least the best single baseline on the mean (points)": _best,
    f"no set more than {-BELOW:g} points below the linear model": _worst,
    "log loss: the lowest on the mean (difference to the best baseline)": _log_loss,
    f"mean calibration error at most {FAR:g}": _calibration,
    f"mean confidence within {FAR:g} of accuracy": _confidence,
}
