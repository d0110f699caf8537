"""A confusion matrix: which classes are taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ---- Predicted against true numbers ----------------------------------------------------------------------

_MOST = 2000  # dots, beyond which they hide each other


def predicted_against_true(truth: np.ndarray, guess: np.ndarray, name: str) -> Figure:
    """One dot an item, ``truth`` across and ``guess`` up, both ``(N,)``; on the line a guess is right."""
    figure = new_figure(4.6, 4.3)
    axes = figure.add_subplot()
    low, high = float(min(truth.min(), guess.min())), float(max(truth.max(), guess.max()))
    axes.plot([low, high], [low, high], color=FAINT, linewidth=1.5, zorder=1)
    step = -(-len(truth) // _MOST)
    axes.scatter(truth[::step], guess[::step], s=14, color=COLORS[0], alpha=0.5, linewidths=0, zorder=2)
    axes.set_xlabel(f"true {name}", fontsize=9, color=INK)
    axes.set_ylabel(f"{name} by the encoder", fontsize=9, color=INK)
    quiet(axes)
    return figure


# ---- A reliability diagram: how often an encoder is right, against how sure it is ------------------------


def reliability_diagram(sure: Sequence[float], right: Sequence[float], items: Sequence[int]) -> Figure:
    """One dot for each bin of the confidence, its area by the number of items; on the line an encoder is calibrated.

    ``sure`` and ``right`` are mean confidences and shares of right answers, ``items`` how many there are.
    """
    figure = new_figure(4.2, 4.0)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.5, zorder=1)
    areas = [20 + 380 * count / max(items) for count in items]
    axes.scatter(sure, right, s=areas, color=COLORS[0], alpha=0.8, linewidths=0, zorder=2)
    axes.set_xlim(-0.03, 1.06)
    axes.set_ylim(-0.06, 1.06)
    axes.set_xlabel("how sure the encoder is", fontsize=9, color=INK)
    axes.set_ylabel("how often it is right", fontsize=9, color=INK)
    quiet(axes)
    return figure


_SHOW_NUMBERS = 15  # up to so many classes the cells are labeled


def confusion(matrix: np.ndarray, classes: Sequence[str], name: str) -> Figure:
    """Counts by true class (rows) and named class (columns); cells are shaded by the share of their row."""
    count = len(classes)
    share = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    size = min(max(3.0, 1.4 + 0.36 * count), 7.5)
    figure = new_figure(size + 0.4, size)
    figure.set_layout_engine("constrained", w_pad=0.12)  # room for the words beside the second axis
    axes = figure.add_subplot()
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    if count <= _SHOW_NUMBERS:
        for row, column in np.argwhere(matrix > 0):
            color = "white" if share[row, column] > 0.5 else INK
            text = str(matrix[row, column])
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=color)
    ticks = range(0, count, max(1, count // 20))
    axes.set_xticks(ticks, [classes[i] for i in ticks], fontsize=8, rotation=90 if _long(classes) else 0)
    axes.set_yticks(ticks, [classes[i] for i in ticks], fontsize=8)
    beside = axes.secondary_yaxis("right")
    beside.set_yticks(ticks, [_recall(share[i, i], matrix[i].sum()) for i in ticks], fontsize=8)
    beside.set_ylabel("recall", fontsize=8, color=INK)
    beside.tick_params(length=0)
    axes.set_xlabel(f"{name} named by the encoder", fontsize=8, color=INK)
    axes.set_ylabel(f"true {name}", fontsize=8, color=INK)
    return figure


def _recall(share: float, items: int) -> str:
    """The share of a class that is recognized; nothing for a class that does not occur."""
    return f"{100 * share:.0f} %" if items else ""


def _long(classes: Sequence[str]) -> bool:
    """Whether the names need more room side by side than the columns have."""
    return max(len(c) for c in classes) > max(3, 18 // len(classes))
