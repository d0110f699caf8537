"""Maps of codes, topics and columns: importance matrix, correlations of topics, shifts of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unknot.plots.style import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CELLS = 400  # that have numbers
_SMALL = 0.005  # would be printed as .00
_LEAST_CORRELATION = 0.05  # of a pair that is listed


def importance_matrix(
    matrix: np.ndarray, codes: Sequence[str], factors: Sequence[str], what: str = "importance"
) -> Figure:
    """The importance of each code for each factor; darker is more, white is nothing.

    Disentangled codes have one dark cell in every row and every column.

    Parameters
    ----------
    matrix : ndarray
        Importances ``(codes, factors)``.
    codes, factors : sequence of str
        The names of rows and columns.
    what : str, default="importance"
        The label of the color bar.

    Returns
    -------
    Figure
    """
    rows, columns = matrix.shape
    figure = new_figure(min(2.2 + 0.62 * columns, 12.0), min(1.4 + 0.32 * rows, 12.0))
    axes = figure.add_subplot()
    top = max(float(matrix.max()), np.finfo(float).tiny)
    image = axes.imshow(matrix, cmap="Blues", vmin=0, vmax=top, aspect="auto")
    if matrix.size <= _MOST_CELLS:
        for row, column in np.argwhere(matrix >= _SMALL):
            color = "white" if matrix[row, column] > 0.55 * top else INK
            text = f"{matrix[row, column]:.2f}".removeprefix("0")
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=color)
    longest = max(len(name) for name in factors)
    axes.set_xticks(range(columns), factors, fontsize=7, rotation=90 if longest > 8 else 0)
    axes.set_yticks(range(rows), codes, fontsize=7)
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label(what, fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
    return figure


def topic_correlations(
    matrix: np.ndarray,
    words: Sequence[str],
    groups: np.ndarray,
    nats: np.ndarray | None = None,
    pairs: int = 6,
) -> Figure:
    """Correlations of topics, and below them the pairs of topics of different groups with the largest ``|r|``.

    Parameters
    ----------
    matrix : ndarray
        Correlations ``(K, K)``.
    words : sequence of str
        The words of each topic.
    groups : ndarray of int
        The group of each topic.
    nats : ndarray, optional
        The information of each topic.
    pairs : int, default=6
        How many pairs are listed.

    Returns
    -------
    Figure
    """
    figure = new_figure(7.0, 5.2 + 0.5 * pairs)
    above, below = figure.subplots(2, 1, height_ratios=[5.2, 0.5 * pairs])
    shown = above.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")  # a fixed one cuts names off
    for edge in np.flatnonzero(np.diff(groups)) + 0.5:
        above.axhline(edge, color=INK, linewidth=0.8)
        above.axvline(edge, color=INK, linewidth=0.8)
    above.set_yticks(range(len(words)), [" ".join(one.split()[:3]) for one in words], fontsize=6)
    above.set_xticks([])
    figure.colorbar(shown, ax=above, shrink=0.7, label="correlation")
    below.axis("off")
    # outside the layout: long lines would squeeze the matrix until its names are cut off
    placed: dict[str, Any] = {"fontsize": 7, "va": "top", "transform": below.transAxes, "in_layout": False}
    for line, (i, j) in enumerate(strongest_pairs(matrix, groups, pairs)):
        top = 1 - (line + 0.2) / max(pairs, 1)
        below.text(0, top, f"{matrix[i, j]:+.2f}", **placed)
        both = [words[k] if nats is None else f"{words[k]} ({nats[k]:.2f} nats)" for k in (i, j)]
        below.text(0.09, top, "\n".join(both), **placed)
    return figure


def strongest_pairs(matrix: np.ndarray, groups: np.ndarray, count: int) -> list[tuple[int, int]]:
    """The pairs of different groups with the largest ``|r|``; each topic is in one pair at most."""
    size = np.where(groups[:, None] < groups[None, :], np.abs(matrix), 0.0)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < count and size.size and size.max() > _LEAST_CORRELATION:
        i, j = (int(place) for place in np.unravel_index(size.argmax(), size.shape))
        chosen.append((i, j))
        size[[i, j], :] = 0.0
        size[:, [i, j]] = 0.0
    return chosen


def shifts(values: np.ndarray, columns: Sequence[str], settings: Sequence[str]) -> Figure:
    """A map of how far each column moves when a factor is set to each of its values.

    Parameters
    ----------
    values : ndarray
        Standardized shifts ``(columns, settings)``: brown above the average over settings, blue-green below.
    columns, settings : sequence of str
        The names of rows and columns of the map.

    Returns
    -------
    Figure
    """
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
    """Characters of all names side by side, each as long as the longest."""
    return max(len(one) for one in settings) * len(settings)
