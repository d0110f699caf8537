"""Images in rows and columns: reconstructions, analogies, traversals, and parts in boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unknot.plots.style import COLORS, INK, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def image_grid(
    images: np.ndarray,
    *,
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    separate_first: bool = False,
    ink: bool = True,
    title: str = "",
    cell: float = 0.5,
) -> Figure:
    """Images in rows and columns, with labels.

    Parameters
    ----------
    images : ndarray
        Between 0 and 1, ``(R, C, colors, H, W)``.
    columns, rows : sequence of str
        Their labels.
    separate_first : bool, default=False
        Whether there is space after the first column.
    ink : bool, default=True
        Whether gray images are drawn dark on light paper; otherwise bright pixels are bright.
    title : str
        The title of the figure.
    cell : float, default=0.5
        Inches per image.

    Returns
    -------
    Figure
    """
    count_rows, count_columns = images.shape[:2]
    left = 0.95 if any(rows) else 0.1
    width = count_columns * cell + left + (0.25 if separate_first else 0.1)
    lines = max((name.count("\n") + 1 for name in columns), default=0) if any(columns) else 0
    height = count_rows * cell + (0.15 + 0.15 * lines if lines else 0.05) + (0.3 if title else 0.05)
    figure = new_figure(max(width, 2.5), height)
    axes = figure.add_subplot()
    draw_grid(axes, images, columns=columns, rows=rows, separate_first=separate_first, ink=ink)
    if title:
        figure.suptitle(title, fontsize=10, color=INK)
    return figure


def draw_grid(
    axes: Axes,
    images: np.ndarray,
    *,
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    separate_first: bool = False,
    ink: bool = True,
) -> None:
    """Draw the images and their labels of :func:`image_grid` into ``axes``."""
    count_rows, count_columns = images.shape[:2]
    sheet = _sheet(images, separate_first, 0.0 if ink and images.shape[2] == 1 else 1.0)
    shades = "gray_r" if ink else "gray"
    axes.imshow(sheet, cmap=None if sheet.ndim == 3 else shades, vmin=0, vmax=1, interpolation="nearest")
    step_y, step_x = images.shape[-2] + 1, images.shape[-1] + 1
    gap = step_x // 3 if separate_first else 0
    axes.set_xticks(
        [c * step_x + step_x / 2 + (gap if c else 0) for c in range(count_columns)] if columns else []
    )
    axes.set_yticks([r * step_y + step_y / 2 for r in range(count_rows)] if rows else [])
    if columns:
        axes.set_xticklabels(columns, fontsize=9, color=INK)
    if rows:
        axes.set_yticklabels(rows, fontsize=9, color=INK)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _sheet(images: np.ndarray, separate_first: bool, background: float) -> np.ndarray:
    """All images on one sheet with a line of background between them: (H', W') gray, or (H', W', 3)."""
    count_rows, _, colors, height, width = images.shape
    padded = np.pad(images, [(0, 0)] * 3 + [(0, 1), (0, 1)], constant_values=background)
    if separate_first:
        spacer = np.full((count_rows, 1, colors, height + 1, (width + 1) // 3), background)
        parts = [padded[:, :1], padded[:, 1:]]
        strips = [_join(parts[0]), _join(spacer), _join(parts[1])]
        sheet = np.concatenate(strips, axis=1)
    else:
        sheet = _join(padded)
    sheet = np.clip(sheet, 0, 1)
    return sheet[..., 0] if colors == 1 else sheet


def _join(images: np.ndarray) -> np.ndarray:
    rows, columns, colors, height, width = images.shape
    return images.transpose(0, 3, 1, 4, 2).reshape(rows * height, columns * width, colors)


def boxed_images(
    images: np.ndarray,
    boxes: np.ndarray,
    names: Sequence[Sequence[str]],
    *,
    rows: Sequence[str] = (),
    ink: bool = True,
    cell: float = 0.9,
) -> Figure:
    """Images in rows and columns, with boxes and names on those of the first row.

    Parameters
    ----------
    images : ndarray
        Between 0 and 1, ``(R, C, 1, H, W)``.
    boxes : ndarray
        ``(C, K, 3)``: the center x and y from -1 to 1, and the side as a share of the image's; NaN: no box.
    names : sequence of sequence of str
        For each column the names of its boxes.
    rows, ink, cell
        As in :func:`image_grid`.

    Returns
    -------
    Figure
    """
    from matplotlib.patches import Rectangle

    count_rows, count_columns, _, height, width = images.shape
    figure = new_figure(count_columns * cell + 1.2, count_rows * cell + 0.2)
    axes = figure.add_subplot()
    draw_grid(axes, images, rows=rows, ink=ink)
    for column in range(count_columns):
        for k, (x, y, scale) in enumerate(boxes[column]):
            if np.isnan(scale):
                continue
            # the center of a pixel has whole coordinates
            left = column * (width + 1) + (x - scale + 1) * width / 2 - 0.5
            top = (y - scale + 1) * height / 2 - 0.5
            color = COLORS[k % len(COLORS)]
            box = (left, top), scale * width, scale * height
            axes.add_patch(Rectangle(*box, fill=False, edgecolor=color, linewidth=0.9))
            above = top > height / 8  # without room above, the name is below
            at = (left, top) if above else (left, top + scale * height)
            axes.text(*at, names[column][k], fontsize=6, color=color, va="bottom" if above else "top")
    for line in range(1, count_columns):
        axes.axvline(line * (width + 1) - 1, color=INK, linewidth=0.3)
    return figure
