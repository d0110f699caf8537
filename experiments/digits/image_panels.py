"""Several grids of images side by side, each with its title: a style grid for every class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.images import draw_grid
from unknot.plots.style import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def image_panels(
    panels: np.ndarray,
    titles: Sequence[str],
    *,
    across: int = 5,
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    labels: tuple[str, str] = ("", ""),
    ink: bool = True,
    title: str = "",
    size: float = 2.2,
) -> Figure:
    """Grids ``(P, R, C, colors, H, W)``, ``across`` of them in a line; ``labels`` name what goes across and down.

    The marks of rows and columns stand at the outer panels alone.
    """
    across = min(across, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(across * size + 0.5, down * (size + 0.25) + (0.35 if title else 0.1))
    for i, (panel, name) in enumerate(zip(panels, titles, strict=True)):
        axes = figure.add_subplot(down, across, i + 1)
        lowest, leftmost = i + across >= len(panels), i % across == 0
        draw_grid(axes, panel, columns=columns if lowest else (), rows=rows if leftmost else (), ink=ink)
        axes.xaxis.tick_bottom()
        axes.tick_params(length=0, labelsize=6)
        axes.set_title(name, fontsize=9, color=INK)
        if lowest:
            axes.set_xlabel(labels[0], fontsize=8, color=INK)
        if leftmost:
            axes.set_ylabel(labels[1], fontsize=8, color=INK)
    if title:
        figure.suptitle(title, fontsize=10, color=INK)
    return figure
