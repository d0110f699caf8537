"""Shifts: how far each column moves when a factor is set to each of its values, as a map of colors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def shifts(values: np.ndarray, columns: Sequence[str], settings: Sequence[str]) -> Figure:
    """Standardized shifts ``(columns, settings)``, brown above the average over settings, blue-green below it."""
    count, across = values.shape
    figure = new_figure(2.4 + 0.62 * across, 0.7 + 0.27 * count)
    axes = figure.add_subplot()
    reach = max(float(np.abs(values).max()), 0.5)
    axes.imshow(values, cmap="BrBG_r", vmin=-reach, vmax=reach, aspect="auto")
    for row, column in np.ndindex(count, across):
        color = "white" if abs(values[row, column]) > 0.65 * reach else INK
        axes.text(
            column,
            row,
            f"{round(float(values[row, column]), 1) + 0.0:+.1f}",
            ha="center",
            va="center",
            fontsize=8,
            color=color,
        )
    axes.set_xticks(
        range(across), list(settings), fontsize=8, rotation=0 if across * 9 > _longest(settings) else 90
    )
    axes.set_yticks(range(count), list(columns), fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, colors=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _longest(settings: Sequence[str]) -> int:
    """Characters that all names side by side would take, at the width of the longest."""
    return max(len(one) for one in settings) * len(settings)
