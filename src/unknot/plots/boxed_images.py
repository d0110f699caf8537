"""Images in rows and columns with boxes around what was found in the first row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.image_grid import draw_grid
from unknot.plots.style import COLORS, INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def boxed_images(
    images: np.ndarray,
    places: np.ndarray,
    words: Sequence[Sequence[str]],
    *,
    rows: Sequence[str] = (),
    ink: bool = True,
    cell: float = 0.9,
) -> Figure:
    """Images ``(R, C, 1, H, W)`` between 0 and 1; on the first row of C images boxes, and words above them.

    With ``ink`` they are drawn dark on light paper.

    ``places`` are ``(C, K, 3)``: the middle x and y from -1 to 1 and the side as a share of the image's; NaN: no box.
    """
    from matplotlib.patches import Rectangle

    count_rows, count_columns, _, height, width = images.shape
    figure = new_figure(count_columns * cell + 1.2, count_rows * cell + 0.2)
    axes = figure.add_subplot()
    draw_grid(axes, images, rows=rows, ink=ink)
    for column in range(count_columns):
        for k, (x, y, scale) in enumerate(places[column]):
            if np.isnan(scale):
                continue
            left = (
                column * (width + 1) + (x - scale + 1) * width / 2 - 0.5
            )  # a pixel's middle has whole numbers
            top = (y - scale + 1) * height / 2 - 0.5
            color = COLORS[k % len(COLORS)]
            box = (left, top), scale * width, scale * height
            axes.add_patch(Rectangle(*box, fill=False, edgecolor=color, linewidth=0.9))
            above = top > height / 8  # else there is no room, and the word stands below
            at = (left, top) if above else (left, top + scale * height)
            axes.text(*at, words[column][k], fontsize=6, color=color, va="bottom" if above else "top")
    for line in range(1, count_columns):
        axes.axvline(line * (width + 1) - 1, color=INK, linewidth=0.3)
    return figure
