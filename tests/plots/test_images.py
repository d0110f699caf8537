"""Grids of images: every image in its place, with its labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unknot.plots.images import _sheet, boxed_images, image_grid
from unknot.plots.style import save
from unknot.workflow.data_summary import drawn_in_ink


def test_a_sheet_puts_every_image_in_its_place() -> None:
    images = np.arange(6, dtype=float).reshape(2, 3, 1, 1, 1) / 10 * np.ones((1, 1, 1, 4, 5))
    sheet = _sheet(images, False, 0.0)
    assert sheet.shape == (2 * 5, 3 * 6)
    for row in range(2):
        for column in range(3):
            cell = sheet[row * 5 : row * 5 + 4, column * 6 : column * 6 + 5]
            assert (cell == images[row, column, 0]).all()
    assert (sheet[4::5] == 0).all()  # the lines between
    assert _sheet(images, True, 0.0).shape == (10, 18 + 2)
    assert _sheet(np.repeat(images, 3, 2), False, 1.0).shape == (10, 18, 3)


def test_grids_have_their_labels() -> None:
    images = np.random.default_rng(0).random((2, 3, 1, 4, 4))
    figure = image_grid(images, columns=("a", "b", "c"), rows=("one", "two"), separate_first=True, title="T")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
    assert axes.images[0].get_cmap().name == "gray_r"
    assert image_grid(images, ink=False).axes[0].images[0].get_cmap().name == "gray"


def test_strokes_are_ink_and_photographs_are_not() -> None:
    rng = np.random.default_rng(0)
    strokes = rng.random((5, 1, 8, 8)) * (rng.random((5, 1, 8, 8)) < 0.4)
    assert drawn_in_ink(strokes)
    assert not drawn_in_ink(0.01 + strokes)
    assert not drawn_in_ink(np.repeat(strokes, 3, 1))


def test_labels_of_several_lines_get_the_room_they_need() -> None:
    images = np.zeros((1, 3, 1, 4, 4))
    one, three = (image_grid(images, columns=[label] * 3).get_size_inches()[1] for label in ("a", "a\nb\nc"))
    assert three == pytest.approx(one + 0.3)


# ---- Images with boxes: where the boxes stand ------------------------------------------------------------


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
