"""An importance matrix: which code carries which factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOW_NUMBERS = 400  # up to so many cells are labeled
_SMALL = 0.005  # would be printed as .00


def importance_matrix(
    matrix: np.ndarray, codes: Sequence[str], factors: Sequence[str], what: str = "importance"
) -> Figure:
    """How much each code (rows) says of each factor (columns); darker is more, white is nothing.

    One dark cell in every row and every column is what disentangled codes look like.
    """
    rows, columns = matrix.shape
    figure = new_figure(min(2.2 + 0.62 * columns, 12.0), min(1.4 + 0.32 * rows, 12.0))
    axes = figure.add_subplot()
    top = max(float(matrix.max()), np.finfo(float).tiny)
    image = axes.imshow(matrix, cmap="Blues", vmin=0, vmax=top, aspect="auto")
    if matrix.size <= _SHOW_NUMBERS:
        for row, column in np.argwhere(matrix >= _SMALL):
            color = "white" if matrix[row, column] > 0.55 * top else INK
            said = f"{matrix[row, column]:.2f}".removeprefix("0")
            axes.text(column, row, said, ha="center", va="center", fontsize=7, color=color)
    longest = max(len(name) for name in factors)
    axes.set_xticks(range(columns), factors, fontsize=7, rotation=90 if longest > 8 else 0)
    axes.set_yticks(range(rows), codes, fontsize=7)
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label(what, fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
    return figure
