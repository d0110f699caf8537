"""Images with boxes: where the boxes stand."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.plots.boxed_images import boxed_images


def test_boxes_stand_around_the_places() -> None:
    places = np.full((2, 2, 3), np.nan)
    places[1, 0] = (0.0, -0.5, 0.5)  # in the middle of the upper half of the second image
    figure = boxed_images(np.zeros((3, 2, 1, 20, 20)), places, [["", ""], ["7", ""]], rows=["a", "b", "c"])
    axes = figure.axes[0]
    (box,) = axes.patches
    assert (box.get_x(), box.get_y()) == pytest.approx((21 + 4.5, -0.5))
    assert (box.get_width(), box.get_height()) == pytest.approx((10, 10))
    assert [(text.get_text(), text.get_verticalalignment()) for text in axes.texts] == [("7", "top")]  # below
