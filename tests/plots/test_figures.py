"""Figures: they show what they were given, and save without a window."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unknot.plots.bars import bars
from unknot.plots.comparison import Curve, comparison
from unknot.plots.confusion import confusion
from unknot.plots.curves import curves
from unknot.plots.image_grid import _sheet, drawn_in_ink, image_grid
from unknot.plots.image_panels import image_panels
from unknot.plots.style import data_uri, save


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


def test_panels_have_their_titles_and_outer_labels() -> None:
    panels = np.random.default_rng(0).random((5, 2, 3, 1, 4, 4))
    figure = image_panels(
        panels, [f"digit {k}" for k in range(5)], across=3, columns="abc", rows="de", labels=("over", "down")
    )
    assert [axes.get_title() for axes in figure.axes] == [f"digit {k}" for k in range(5)]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "over", "over", "over"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["down", "", "", "down", ""]
    assert [label.get_text() for label in figure.axes[3].get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == []


def test_strokes_are_ink_and_photographs_are_not() -> None:
    rng = np.random.default_rng(0)
    strokes = rng.random((5, 1, 8, 8)) * (rng.random((5, 1, 8, 8)) < 0.4)
    assert drawn_in_ink(strokes)
    assert not drawn_in_ink(0.01 + strokes)
    assert not drawn_in_ink(np.repeat(strokes, 3, 1))


def test_curves_show_what_changes() -> None:
    records = [{"step": s, "loss": 1.0 / s, "same": 1.0, "time": s} for s in (1, 2, 3)]
    records[1]["validation"] = 0.5
    figure = curves(records)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["loss", "validation"]
    x, y = figure.axes[0].lines[0].get_data()
    assert list(x) == [1, 2, 3]
    assert list(y) == [1.0, 0.5, 1 / 3]
    assert len(curves(records[:1]).axes) == 2  # with one record nothing has changed yet: show all


def test_ours_are_solid_and_theirs_dashed_in_one_colour() -> None:
    curves = [
        Curve("ours", [0.01, 1.0], [2.0, 8.0], "100", spread=[0.5, 0.0]),
        Curve("theirs", [0.01, 1.0], [9.0, 30.0], "100", theirs=True),
        Curve("other", [0.1], [3.0], "600"),
    ]
    figure = comparison(curves, "rate", "error")
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    lines = [container.lines[0] for container in axes.containers]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-"]
    assert lines[0].get_color() == lines[1].get_color() != lines[2].get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours", "theirs", "other"]


def test_a_confusion_matrix_has_its_numbers() -> None:
    figure = confusion(np.array([[5, 0], [2, 3]]), ("cat", "a long name"), "animal")
    assert {text.get_text() for text in figure.axes[0].texts} == {"5", "2", "3"}
    many = confusion(np.eye(40, dtype=int), tuple(map(str, range(40))), "identity")
    assert not many.axes[0].texts
    assert len(many.axes[0].get_xticks()) <= 21


def test_bars_and_files(tmp_path: Path) -> None:
    figure = bars(["z[0]", "z[1]"], [1.5, 0.0], "nats", [False, True])
    assert [bar.get_width() for bar in figure.axes[0].patches] == [1.5, 0.0]
    assert figure.axes[0].patches[0].get_facecolor() != figure.axes[0].patches[1].get_facecolor()
    assert data_uri(figure).startswith("data:image/png;base64,iVBOR")
    save(figure, tmp_path / "bars.png")
    assert (tmp_path / "bars.png").read_bytes()[:4] == b"\x89PNG"
