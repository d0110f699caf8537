"""A reliability diagram: how often an encoder is right, against how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
