"""Correlations of topics: the matrix, and the most correlated pairs between two groups with their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unknot.plots.style import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WORST = 0.05  # pairs less correlated than this are not worth a line


def topic_correlations(
    matrix: np.ndarray,
    spoken: Sequence[str],
    groups: np.ndarray,
    nats: np.ndarray | None = None,
    pairs: int = 6,
) -> Figure:
    """A figure of correlations ``(K, K)`` of topics, each with its words, its group and (if known) its information.

    Below the matrix are the ``pairs`` of topics of different groups with the largest |r|.
    """
    figure = new_figure(7.0, 5.2 + 0.5 * pairs)
    above, below = figure.subplots(2, 1, height_ratios=[5.2, 0.5 * pairs])
    shown = above.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")  # a fixed one cuts names off
    for edge in np.flatnonzero(np.diff(groups)) + 0.5:
        above.axhline(edge, color=INK, linewidth=0.8)
        above.axvline(edge, color=INK, linewidth=0.8)
    above.set_yticks(range(len(spoken)), [" ".join(one.split()[:3]) for one in spoken], fontsize=6)
    above.set_xticks([])
    figure.colorbar(shown, ax=above, shrink=0.7, label="correlation")
    below.axis("off")
    # outside the layout: long lines would squeeze the matrix until its names are cut off
    placed: dict[str, Any] = {"fontsize": 7, "va": "top", "transform": below.transAxes, "in_layout": False}
    for line, (i, j) in enumerate(strongest_pairs(matrix, groups, pairs)):
        top = 1 - (line + 0.2) / max(pairs, 1)
        below.text(0, top, f"{matrix[i, j]:+.2f}", **placed)
        both = [spoken[k] if nats is None else f"{spoken[k]} ({nats[k]:.2f} nats)" for k in (i, j)]
        below.text(0.09, top, "\n".join(both), **placed)
    return figure


def strongest_pairs(matrix: np.ndarray, groups: np.ndarray, count: int) -> list[tuple[int, int]]:
    """The pairs of different groups with the largest |r|, each topic in one of them at most."""
    size = np.where(groups[:, None] < groups[None, :], np.abs(matrix), 0.0)
    found: list[tuple[int, int]] = []
    while len(found) < count and size.size and size.max() > _WORST:
        i, j = (int(place) for place in np.unravel_index(size.argmax(), size.shape))
        found.append((i, j))
        size[[i, j], :] = 0.0
        size[:, [i, j]] = 0.0
    return found
