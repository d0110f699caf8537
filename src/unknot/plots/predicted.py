"""Predicted against true numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
