"""Overview of own-data: means by method for each group of tables, goals of the defaults, and average ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.ledger.result_tables import NOTHING, table_lines
from unknot.plots.style import COLORS, FAINT, INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# the studentized range at 5 % divided by √2, for 2 to 10 methods
_Q = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)
GROUPS = ("redrawn", "fresh", "look", "tune")  # the most independent of the development first
WORST = -100.0  # per cent; the smallest R² of a cell in a mean
Found = list[Mapping[str, Any]]  # entries of a result's summary


def overview(content: Mapping[str, Any]) -> list[str]:
    """Return two tables in Markdown: goals by group, and means by method for each group."""
    parts = {
        (group, numbers): cells_of(content, group, numbers) for group in GROUPS for numbers in (False, True)
    }
    there = [group for group in GROUPS if len(parts[group, False]) or len(parts[group, True])]
    if not there:
        return []
    goals = [
        [title, *(score(parts[group, numbers]) if len(parts[group, numbers]) else NOTHING for group in there)]
        for title, (numbers, score) in _GOALS.items()
    ]
    found = table_lines(["goal", *there], goals)
    for (group, numbers), cells in parts.items():
        if len(cells):
            found += means(group, numbers, cells)
    return found


def short(content: Mapping[str, Any]) -> tuple[str, str, int] | None:
    """Return mean accuracies of ours and of logistic regression on the first group, and the number of splits."""
    cells = cells_of(content, GROUPS[0], numbers=False)
    if not len(cells):
        return None
    ours, linear = (f"{cells.mean('accuracy', method):.1f} %" for method in ("ours", "linear"))
    return ours, linear, cells.splits


class CellTable:
    """The rows of a group with results of every method, as arrays of N rows and M ``methods``."""

    def __init__(self, found: Found) -> None:
        self.methods = list(dict.fromkeys(one["case"]["column"] for one in found))
        rows: dict[str, dict[str, Mapping[str, Any]]] = {}
        for one in found:
            rows.setdefault(one["case"]["row"], {})[one["case"]["column"]] = one
        whole = set(self.methods) >= {"ours", "labels alone", "linear"}
        self.lines = [line for line in rows.values() if whole and len(line) == len(self.methods)]
        self.tables = [line[self.methods[0]]["case"]["item"] for line in self.lines]
        self.splits = min((one["seeds"] for line in self.lines for one in line.values()), default=0)

    def __len__(self) -> int:
        return len(self.lines)

    def value(self, key: str) -> np.ndarray:
        return np.array([[line[m]["numbers"][key]["mean"] for m in self.methods] for line in self.lines])

    def mean(self, key: str, method: str) -> float:
        return float(np.maximum(self.value(key), WORST)[:, self.methods.index(method)].mean())

    def ahead(self, other: str = "linear") -> np.ndarray:
        """Return the difference in accuracy between ours and another method, for each table, (T,)."""
        value = np.maximum(self.value("accuracy"), WORST)
        gap = value[:, self.methods.index("ours")] - value[:, self.methods.index(other)]
        tables = np.array(self.tables)
        return np.array([gap[tables == table].mean() for table in dict.fromkeys(self.tables)])

    def rank(self) -> int:
        """Return the number of methods with a better average rank than ours."""
        ranks = average_ranks(self.value("accuracy"))
        return int((ranks < ranks[self.methods.index("ours")]).sum())


def means(group: str, numbers: bool, cells: CellTable) -> list[str]:
    """Return a table of one group with means by method."""
    keys = {"R² (%)": ("accuracy", 1)}
    if not numbers:
        keys = {
            "accuracy (%)": ("accuracy", 1),
            "log loss": ("log_loss", 3),
            "calibration error": ("calibration", 3),
        }
    keys["CPU seconds"] = ("seconds", 1)
    lines = [
        [title, *(f"{cells.mean(key, method):.{decimals}f}" for method in cells.methods)]
        for title, (key, decimals) in keys.items()
    ]
    ranks = average_ranks(cells.value("accuracy"))
    lines.append(["average rank", *(f"{rank:.2f}" for rank in ranks)])
    kind = "numbers" if numbers else "classes"
    tables, splits = len(set(cells.tables)), "one split" if cells.splits == 1 else f"{cells.splits} splits"
    return table_lines([f"{group}: {kind}, {tables} tables, {splits}", *cells.methods], lines)


def cells_of(content: Mapping[str, Any], group: str, numbers: bool) -> CellTable:
    """Return the results of one group, for numbers or for classes."""

    def belongs(case: Mapping[str, Any]) -> bool:
        return case["group"] == group and case["numbers"] == numbers

    return CellTable([one for one in content["summary"] if belongs(one["case"])])


def _marked(reached: bool, text: str) -> str:
    return text if reached else f"**miss** {text}"


def _accuracy(cells: CellTable) -> str:
    ahead = cells.ahead()
    error = ahead.std(ddof=1) / len(ahead) ** 0.5 if len(ahead) > 1 else float("nan")
    return _marked(ahead.mean() >= 1.5, f"{ahead.mean():+.2f} ± {error:.2f}")


def _worst(cells: CellTable) -> str:
    worst = cells.ahead().min()
    return _marked(worst >= -1.5, f"{worst:+.2f}")


def _log_loss(cells: CellTable) -> str:
    ratio = 100 * cells.mean("log_loss", "ours") / cells.mean("log_loss", "linear")
    return _marked(ratio <= 95, f"{ratio:.0f} %")


def _calibration(cells: CellTable) -> str:
    error = cells.mean("calibration", "ours")
    return _marked(error <= 0.08, f"{error:.3f}")


def _rank(cells: CellTable) -> str:
    better = cells.rank()
    return _marked(better == 0, f"{better + 1} of {len(cells.methods)}")


def _numbers(cells: CellTable) -> str:
    ahead = cells.ahead()
    return _marked(ahead.mean() > 0, f"{ahead.mean() / 100:+.3f}")


def _worst_numbers(cells: CellTable) -> str:
    worst = cells.ahead().min()
    return _marked(worst >= -2, f"{worst / 100:+.3f}")


def _unlabeled(cells: CellTable) -> str:
    return f"{cells.ahead('labels alone').mean():+.2f}"


def average_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the mean rank of each method, (M,), from ``scores`` (N, M), larger is better; ties share ranks.

    >>> average_ranks(np.array([[3.0, 2.0, 1.0], [5.0, 5.0, 1.0]])).tolist()
    [1.25, 1.75, 3.0]
    """
    better = (scores[:, None, :] > scores[:, :, None]).sum(-1)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(-1)
    return (better + (equal + 1) / 2).mean(0)


def critical_difference(methods: int, sets: int) -> float:
    """Return Nemenyi's critical difference of average ranks at 5 % (Demšar 2006)."""
    return _Q[methods - 2] * math.sqrt(methods * (methods + 1) / (6 * sets))


def rank_diagram(
    scores: np.ndarray, names: Sequence[str], title: str = "", notes: Mapping[str, str] | None = None
) -> Figure:
    """Draw the average rank of each method, best first, and the critical difference from the best.

    ``scores`` (N, M), larger is better; ``notes`` are appended to the names.
    """
    ranks = average_ranks(scores)
    order = np.argsort(ranks, kind="stable")
    width = critical_difference(len(names), len(scores))
    figure = new_figure(7.0, 0.9 + 0.34 * len(names))
    axes = figure.add_subplot()
    axes.axvspan(ranks[order[0]], ranks[order[0]] + width, color=FAINT, alpha=0.5, linewidth=0)
    for line, i in enumerate(order):
        axes.plot([1, ranks[i]], [line, line], color=FAINT, linewidth=1)
        axes.plot(ranks[i], line, "o", color=COLORS[0] if i == 0 else INK, markersize=6)
    axes.set_yticks(range(len(names)), [f"{names[i]}{(notes or {}).get(names[i], '')}" for i in order])
    axes.invert_yaxis()
    axes.set_xlim(1, len(names))
    axes.set_xlabel("average rank (shaded: critical difference from the best)", fontsize=9, color=INK)
    axes.tick_params(colors=INK, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    if title:
        axes.set_title(title, fontsize=10, color=INK, loc="left")
    return figure


_GOALS: dict[str, tuple[bool, Callable[[CellTable], str]]] = {  # of tables with numbers, or with classes
    "accuracy above logistic regression: at least 1.5 points (mean over tables ± its error)": (
        False,
        _accuracy,
    ),
    "the worst table: at most 1.5 points below": (False, _worst),
    "log loss: at most 95 % of that of logistic regression": (False, _log_loss),
    "calibration error: at most .08": (False, _calibration),
    "average rank by accuracy: first": (False, _rank),
    "R² above ridge regression, on the mean": (True, _numbers),
    "R² of the worst table: at most .02 below": (True, _worst_numbers),
    "difference to the same ensemble on the labels alone (points; no goal)": (False, _unlabeled),
}
