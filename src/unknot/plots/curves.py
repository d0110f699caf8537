"""Numbers over steps, seeds and dimensions: training curves, dots of seeds, bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEW = 25  # points that are marked one by one
_NOT_TERMS = {"step", "time", "epoch", "items_per_second", "learning_rate", "temperature"}
_ACROSS = 3  # panels in a row


def curves(records: Sequence[Mapping[str, Any]], titles: Mapping[str, str] | None = None) -> Figure:
    """One small panel for each logged term that changes, and for the validation score if there is one.

    Parameters
    ----------
    records : sequence of mapping
        The logged records.
    titles : mapping from str to str, optional
        By term the title of its panel; by default the term.

    Returns
    -------
    Figure
    """
    names = list(dict.fromkeys(name for record in records for name in record if name not in _NOT_TERMS))
    names = [name for name in names if len({record.get(name) for record in records}) > 1] or names
    across = min(_ACROSS, max(1, len(names)))
    down = -(-len(names) // across)
    figure = new_figure(3.1 * across, 2.1 * max(down, 1))
    for i, name in enumerate(names):
        axes = figure.add_subplot(down, across, i + 1)
        points = [(r["step"], r[name]) for r in records if isinstance(r.get(name), int | float)]
        steps, values = [p[0] for p in points], [p[1] for p in points]
        mark = "." if len(points) < _FEW else None
        axes.plot(steps, values, color=COLORS[i % len(COLORS)], linewidth=1.4, marker=mark)
        axes.set_title((titles or {}).get(name, name), fontsize=9, color=INK, loc="left")
        axes.set_xlabel("step", fontsize=8, color=INK)
        quiet(axes)
    return figure


def seeds_by_setting(settings: Sequence[str], panels: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """One panel per number with one line per setting: a dot per seed, and a tick at the median.

    Parameters
    ----------
    settings : sequence of str
        The names of the lines.
    panels : mapping from str to sequence
        By the title of a number its values, for every setting those of its seeds.

    Returns
    -------
    Figure
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


def bars(names: Sequence[str], values: Sequence[float], label: str, faint: Sequence[bool] = ()) -> Figure:
    """Horizontal bars.

    Parameters
    ----------
    names, values : sequence
        One for each bar.
    label : str
        The label of the axis.
    faint : sequence of bool
        Which bars are gray.

    Returns
    -------
    Figure
    """
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
