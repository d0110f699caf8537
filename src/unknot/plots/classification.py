"""Predictions against labels: confusion matrix, reliability diagram, scatter plot of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CLASSES = 15  # whose cells have numbers
_LETTERS, _LINES = 18, 2  # of the name of a class
_MOST_DOTS = 2000  # beyond which they hide each other


def confusion(matrix: np.ndarray, classes: Sequence[str], name: str) -> Figure:
    """A confusion matrix, with the recall of each class at its right.

    Parameters
    ----------
    matrix : ndarray of int
        Counts by true class (rows) and predicted class (columns); cells are shaded by their share of the row.
    classes : sequence of str
        The names of the classes.
    name : str
        The factor.

    Returns
    -------
    Figure
    """
    count = len(classes)
    classes = [wrapped(one, _LETTERS, _LINES) for one in classes]
    share = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    size = min(max(3.0, 1.4 + 0.36 * count), 7.5)
    figure = new_figure(size + 0.4, size)
    figure.set_layout_engine("constrained", w_pad=0.12)  # room for the label of the second axis
    axes = figure.add_subplot()
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    if count <= _MOST_CLASSES:
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
    axes.set_xlabel(f"predicted {name}", fontsize=8, color=INK)
    axes.set_ylabel(f"true {name}", fontsize=8, color=INK)
    return figure


def _recall(share: float, items: int) -> str:
    """The share of a class that is predicted correctly; nothing for a class that does not occur."""
    return f"{100 * share:.0f} %" if items else ""


def _long(classes: Sequence[str]) -> bool:
    """Whether the names need more room side by side than the columns have."""
    return max(len(line) for name in classes for line in name.split("\n")) > max(3, 18 // len(classes))


def reliability_diagram(
    confidence: Sequence[float], accuracy: Sequence[float], items: Sequence[int]
) -> Figure:
    """A reliability diagram: one dot per bin of the confidence, its area by the number of items.

    Parameters
    ----------
    confidence, accuracy : sequence of float
        The mean of each bin; on the line an encoder is calibrated.
    items : sequence of int
        The number of items in each bin.

    Returns
    -------
    Figure
    """
    figure = new_figure(4.2, 4.0)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.5, zorder=1)
    areas = [20 + 380 * count / max(items) for count in items]
    axes.scatter(confidence, accuracy, s=areas, color=COLORS[0], alpha=0.8, linewidths=0, zorder=2)
    axes.set_xlim(-0.03, 1.06)
    axes.set_ylim(-0.06, 1.06)
    axes.set_xlabel("probability of the predicted class", fontsize=9, color=INK)
    axes.set_ylabel("accuracy", fontsize=9, color=INK)
    quiet(axes)
    return figure


def predicted_against_true(truth: np.ndarray, predicted: np.ndarray, name: str) -> Figure:
    """A scatter plot of numbers, one dot per item; on the line a prediction is right.

    Parameters
    ----------
    truth, predicted : ndarray
        Both ``(N,)``.
    name : str
        The factor.

    Returns
    -------
    Figure
    """
    figure = new_figure(4.6, 4.3)
    axes = figure.add_subplot()
    low, high = float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max()))
    axes.plot([low, high], [low, high], color=FAINT, linewidth=1.5, zorder=1)
    step = -(-len(truth) // _MOST_DOTS)
    axes.scatter(truth[::step], predicted[::step], s=14, color=COLORS[0], alpha=0.5, linewidths=0, zorder=2)
    axes.set_xlabel(f"true {name}", fontsize=9, color=INK)
    axes.set_ylabel(f"predicted {name}", fontsize=9, color=INK)
    quiet(axes)
    return figure
