"""A picture of a few items of each data set, one row a set: images as they are, word counts as top words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

COLUMNS = 12


@dataclass(frozen=True)
class SampleRow:
    """The row of one data set: uint8 images (n, C, H, W), or the commonest words of each text; and captions."""

    title: str
    captions: Sequence[str]
    images: np.ndarray[Any, Any] | None = None
    words: Sequence[Sequence[str]] = ()


def data_samples(rows: Sequence[SampleRow]) -> Figure:
    """One row a data set, at most ``COLUMNS`` images or a third as many texts."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMNS * 0.85, len(rows) * 1.3), layout="constrained")
    parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    for part, row in zip(parts, rows, strict=True):
        part.suptitle(row.title, x=0.005, ha="left", fontsize=9, fontweight="bold")
        if row.images is None:
            _draw_words(part, row)
        else:
            _draw_images(part, row, row.images)
    return figure


def _draw_images(part: SubFigure, row: SampleRow, images: np.ndarray[Any, Any]) -> None:
    for axes, image, caption in zip(part.subplots(1, COLUMNS), images, row.captions, strict=False):
        gray = image.shape[0] == 1
        pixels = image[0] if gray else image.transpose(1, 2, 0)  # (C, H, W) -> (H, W, C)
        axes.imshow(pixels, cmap="gray" if gray else None, vmin=0, vmax=255, interpolation="nearest")
        axes.set_title(caption, fontsize=7, pad=2)
    _hide_axes(part)


def _draw_words(part: SubFigure, row: SampleRow) -> None:
    for axes, words, caption in zip(part.subplots(1, COLUMNS // 3), row.words, row.captions, strict=False):
        axes.set_title(caption, fontsize=7, pad=2)
        half = -(-len(words) // 2)
        text = " ".join(words[:half]) + "\n" + " ".join(words[half:])
        axes.text(0.5, 0.5, text, fontsize=7, ha="center", va="center", family="serif")
    _hide_axes(part)


def _hide_axes(part: SubFigure) -> None:
    for axes in part.axes:
        axes.set_axis_off()
