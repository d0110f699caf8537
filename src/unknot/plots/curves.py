"""Curves of training: every logged term against the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unknot.plots.style import COLORS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEW = 25  # points that are marked one by one
_NOT_TERMS = {"step", "time", "epoch", "items_per_second", "learning_rate", "temperature"}


def curves(records: Sequence[Mapping[str, Any]]) -> Figure:
    """One small panel for each term that changes, and for the validation score if there is one."""
    names = list(dict.fromkeys(name for record in records for name in record if name not in _NOT_TERMS))
    names = [name for name in names if len({record.get(name) for record in records}) > 1] or names
    across = min(3, max(1, len(names)))
    down = -(-len(names) // across)
    figure = new_figure(3.1 * across, 2.1 * max(down, 1))
    for i, name in enumerate(names):
        axes = figure.add_subplot(down, across, i + 1)
        points = [(r["step"], r[name]) for r in records if isinstance(r.get(name), int | float)]
        steps, values = [p[0] for p in points], [p[1] for p in points]
        mark = "." if len(points) < _FEW else None
        axes.plot(steps, values, color=COLORS[i % len(COLORS)], linewidth=1.4, marker=mark)
        axes.set_title(name, fontsize=9, color=INK, loc="left")
        axes.set_xlabel("step", fontsize=8, color=INK)
        quiet(axes)
    return figure
