"""Rows of a table with their class changed: for each column, where they go and where real rows of that class are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REAL = "#8a94a3"


def changed_columns(
    columns: Sequence[str],
    classes: Sequence[str],
    rows: np.ndarray,
    own: np.ndarray,
    changed: np.ndarray,
    title: str = "",
) -> Figure:
    """A panel for each column of rows ``(N, D)`` of classes ``own`` ``(N,)``, changed to every class: ``(N, K, D)``.

    In each panel, for each class: gray, the real rows of that class; in the color of the class that they had, the
    other rows changed to it. Bars are means. A hole in a row is left out.
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
    """Values as dots beside each other, and a bar at their mean."""
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
