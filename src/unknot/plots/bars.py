"""Horizontal bars: information per dimension, and other lists of named numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bars(names: Sequence[str], values: Sequence[float], label: str, faint: Sequence[bool] = ()) -> Figure:
    """One bar for each name; those marked ``faint`` are greyed (unused dimensions, say)."""
    figure = new_figure(5.2, 0.5 + 0.24 * len(names))
    axes = figure.add_subplot()
    shades = [FAINT if i < len(faint) and faint[i] else COLORS[0] for i in range(len(names))]
    axes.barh(range(len(names)), list(values), color=shades, height=0.7)
    axes.set_yticks(range(len(names)), list(names), fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(label, fontsize=8, color=INK)
    quiet(axes)
    axes.grid(False, axis="y")
    return figure
