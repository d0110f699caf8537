"""Every seed of every setting as a dot: how much a setting does, beside how much chance does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from unknot.plots.style import COLORS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 3  # panels in a row


def seeds_by_setting(settings: Sequence[str], panels: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """One panel for each number, one line for each of the ``settings``, one dot for each seed, a tick at the median.

    ``panels`` maps a number's title to its values, of every setting those of its seeds.
    """
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(1.6 + 2.4 * across, down * (0.8 + 0.3 * len(settings)))
    for place, (title, values) in enumerate(panels.items()):
        axes = figure.add_subplot(down, across, place + 1)
        color = COLORS[place % len(COLORS)]
        for line, seeds in enumerate(values):
            axes.plot(seeds, [line] * len(seeds), "o", color=color, markersize=5, alpha=0.55, linewidth=0)
            if seeds:
                axes.plot(median(seeds), line, "|", color=INK, markersize=12, markeredgewidth=1.6)
        axes.set_ylim(len(settings) - 0.5, -0.5)
        axes.set_yticks(range(len(settings)), list(settings) if place % across == 0 else [""] * len(settings))
        axes.set_title(title, fontsize=9, color=INK, loc="left")
        quiet(axes)
    return figure
