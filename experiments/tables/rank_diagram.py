"""Average ranks of methods over many data sets, with Nemenyi's critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import COLORS, FAINT, INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# the studentized range at 5 % divided by √2, for 2 to 10 methods
_Q = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def average_ranks(scores: np.ndarray) -> np.ndarray:
    """Mean rank of each method, (M,), from ``scores`` (N, M), larger is better; equals share their ranks.

    >>> average_ranks(np.array([[3.0, 2.0, 1.0], [5.0, 5.0, 1.0]])).tolist()
    [1.25, 1.75, 3.0]
    """
    better = (scores[:, None, :] > scores[:, :, None]).sum(-1)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(-1)
    return (better + (equal + 1) / 2).mean(0)


def critical_difference(methods: int, sets: int) -> float:
    """By how much average ranks over so many ``sets`` must differ to tell two of so many ``methods`` apart at 5 %."""
    return _Q[methods - 2] * math.sqrt(methods * (methods + 1) / (6 * sets))


def rank_diagram(
    scores: np.ndarray, names: Sequence[str], title: str = "", notes: Mapping[str, str] | None = None
) -> Figure:
    """One line a method, best first: its average rank, and a bar as long as the critical difference from the best.

    ``scores`` (N, M), larger is better; ``notes`` stand beside the names. What lies within the bar cannot be told from
    the best.
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
