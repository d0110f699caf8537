"""own-data in short: each group's means by method, and what was asked of the defaults beside what they reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from experiments.ledger.result_tables import NOTHING, table_lines
from experiments.tables.rank_diagram import average_ranks

GROUPS = ("redrawn", "fresh", "look", "tune")  # in the order of what they prove
WORST = -100.0  # per cent of the variance; a cell's R² counts no less, or one table would be the mean of all
Found = list[Mapping[str, Any]]  # entries of a result's summary


def overview(content: Mapping[str, Any]) -> list[str]:
    """Two tables: goals by group, and means by method for each group."""
    parts = {
        (group, numbers): cells_of(content, group, numbers) for group in GROUPS for numbers in (False, True)
    }
    there = [group for group in GROUPS if len(parts[group, False]) or len(parts[group, True])]
    if not there:
        return []
    goals = [
        [title, *(judge(parts[group, numbers]) if len(parts[group, numbers]) else NOTHING for group in there)]
        for title, (numbers, judge) in _GOALS.items()
    ]
    found = table_lines(["what was asked", *there], goals)
    for (group, numbers), cells in parts.items():
        if len(cells):
            found += means(group, numbers, cells)
    return found


def short(content: Mapping[str, Any]) -> tuple[str, str, int] | None:
    """Mean accuracy on the group that proves most, ours and logistic regression's, and its splits."""
    cells = cells_of(content, GROUPS[0], numbers=False)
    if not len(cells):
        return None
    ours, linear = (f"{cells.mean('accuracy', method):.1f} %" for method in ("ours", "linear"))
    return ours, linear, cells.splits


class CellTable:
    """The rows of a group that every method has, as arrays of N rows and M ``methods``; ``tables`` are N names."""

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
        """By how much ours is ahead of another method in accuracy, for each table, (T,)."""
        value = np.maximum(self.value("accuracy"), WORST)
        gap = value[:, self.methods.index("ours")] - value[:, self.methods.index(other)]
        tables = np.array(self.tables)
        return np.array([gap[tables == table].mean() for table in dict.fromkeys(self.tables)])

    def rank(self) -> int:
        """How many methods have a better average rank than ours."""
        ranks = average_ranks(self.value("accuracy"))
        return int((ranks < ranks[self.methods.index("ours")]).sum())


def means(group: str, numbers: bool, cells: CellTable) -> list[str]:
    """A table of one group: its means by method."""
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
    """What a result has of one group, tables with numbers or with classes."""

    def mine(case: Mapping[str, Any]) -> bool:
        return case["group"] == group and case["numbers"] == numbers

    return CellTable([one for one in content["summary"] if mine(one["case"])])


def _said(reached: bool, text: str) -> str:
    return text if reached else f"**miss** {text}"


def _accuracy(cells: CellTable) -> str:
    ahead = cells.ahead()
    error = ahead.std(ddof=1) / len(ahead) ** 0.5 if len(ahead) > 1 else float("nan")
    return _said(ahead.mean() >= 1.5, f"{ahead.mean():+.2f} ± {error:.2f}")


def _worst(cells: CellTable) -> str:
    worst = cells.ahead().min()
    return _said(worst >= -1.5, f"{worst:+.2f}")


def _log_loss(cells: CellTable) -> str:
    ratio = 100 * cells.mean("log_loss", "ours") / cells.mean("log_loss", "linear")
    return _said(ratio <= 95, f"{ratio:.0f} %")


def _calibration(cells: CellTable) -> str:
    error = cells.mean("calibration", "ours")
    return _said(error <= 0.08, f"{error:.3f}")


def _rank(cells: CellTable) -> str:
    better = cells.rank()
    return _said(better == 0, f"{better + 1} of {len(cells.methods)}")


def _numbers(cells: CellTable) -> str:
    ahead = cells.ahead()
    return _said(ahead.mean() > 0, f"{ahead.mean() / 100:+.3f}")


def _worst_numbers(cells: CellTable) -> str:
    worst = cells.ahead().min()
    return _said(worst >= -2, f"{worst / 100:+.3f}")


def _unlabeled(cells: CellTable) -> str:
    return f"{cells.ahead('labels alone').mean():+.2f}"


_GOALS: dict[str, tuple[bool, Callable[[CellTable], str]]] = {  # of tables with numbers, or with classes
    "accuracy above logistic regression: at least 1.5 points (mean over tables ± its error)": (
        False,
        _accuracy,
    ),
    "the worst table: at most 1.5 points below": (False, _worst),
    "log loss: at most 95 % of its": (False, _log_loss),
    "calibration error: at most .08": (False, _calibration),
    "average rank by accuracy: first": (False, _rank),
    "R² above ridge regression, on the mean": (True, _numbers),
    "R² of the worst table: at most .02 below": (True, _worst_numbers),
    "what the generative model adds to the labels alone (points; no goal)": (False, _unlabeled),
}
