"""Images with boxes: where the boxes stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unknot.plots.boxed_images import boxed_images
from unknot.plots.style import save


def test_boxes_stand_around_the_places() -> None:
    places = np.full((2, 2, 3), np.nan)
    places[1, 0] = (0.0, -0.5, 0.5)  # in the middle of the upper half of the second image
    figure = boxed_images(np.zeros((3, 2, 1, 20, 20)), places, [["", ""], ["7", ""]], rows=["a", "b", "c"])
    axes = figure.axes[0]
    (box,) = axes.patches
    assert (box.get_x(), box.get_y()) == pytest.approx((21 + 4.5, -0.5))
    assert (box.get_width(), box.get_height()) == pytest.approx((10, 10))
    assert [(text.get_text(), text.get_verticalalignment()) for text in axes.texts] == [("7", "top")]  # below


def test_words_beside_many_images_are_not_cut(tmp_path: Path) -> None:
    places = np.full((18, 1, 3), np.nan)
    rows = ["canvas", "made anew", *(f"digit {k}" for k in range(1, 6))]
    figure = boxed_images(np.zeros((7, 18, 1, 50, 50)), places, [[""]] * 18, rows=rows)
    save(figure, tmp_path / "boxes.png")
    with Image.open(tmp_path / "boxes.png") as picture:
        assert np.asarray(picture.convert("L"))[:, :2].min() > 200  # the margin is paper
