"""Curves of ours beside theirs: solid and dashed lines of one color."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unknot.plots.style import COLORS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """Points of one line; ``spread`` draws bars, curves of one ``family`` share a color, theirs are dashed."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    family: str
    theirs: bool = False
    spread: Sequence[float] | None = None


def comparison(curves: Sequence[Curve], x_label: str, y_label: str, title: str = "") -> Figure:
    """All curves in one frame, with logarithmic axes both ways, and their names beside it."""
    figure = new_figure(7.0, 4.2)
    axes = figure.add_subplot()
    families = list(dict.fromkeys(curve.family for curve in curves))
    for curve in curves:
        axes.errorbar(
            curve.x,
            curve.y,
            yerr=curve.spread,
            label=curve.name,
            color=COLORS[families.index(curve.family) % len(COLORS)],
            linestyle="--" if curve.theirs else "-",
            marker="o",
            markersize=3.5,
            markerfacecolor="white" if curve.theirs else None,
            linewidth=1.2,
            capsize=2,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [1, 2, 3, 5, 10, 20, 30, 50, 100]
    shown = [tick for tick in ticks if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1]]
    axes.set_yticks(shown, [str(tick) for tick in shown])
    axes.minorticks_off()
    axes.set_xlabel(x_label, fontsize=9, color=INK)
    axes.set_ylabel(y_label, fontsize=9, color=INK)
    quiet(axes)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if title:
        axes.set_title(title, fontsize=10, color=INK, loc="left")
    return figure
