"""The importance matrix: every cell in its place, numbers where there is room, names on both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unknot.plots.codes import importance_matrix, shifts, strongest_pairs, topic_correlations
from unknot.plots.style import save


def test_cells_numbers_and_names() -> None:
    matrix = np.array([[0.9, 0.001], [0.1, 0.6], [0.0, 0.4]])
    figure = importance_matrix(matrix, ["c", "z[0]", "z[1]"], ["shape", "orientation"], "share")
    axes, bar = figure.axes
    assert (axes.images[0].get_array() == matrix).all()
    shown = {(t.get_position()[1], t.get_position()[0]): t.get_text() for t in axes.texts}
    assert shown == {(0, 0): ".90", (1, 0): ".10", (1, 1): ".60", (2, 1): ".40"}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "z[0]", "z[1]"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["shape", "orientation"]
    assert bar.get_ylabel() == "share"


def test_large_matrices_have_no_numbers() -> None:
    figure = importance_matrix(
        np.full((50, 20), 0.5), [str(i) for i in range(50)], [str(i) for i in range(20)]
    )
    assert not figure.axes[0].texts


def test_nothing_at_all_is_drawn_white() -> None:
    figure = importance_matrix(np.zeros((2, 2)), ["a", "b"], ["c", "d"])
    figure.canvas.draw()
    assert not figure.axes[0].texts


# ---- The map of shifts: every cell with its number, no minus before a zero -------------------------------


def test_cells_are_labeled() -> None:
    axes = shifts(np.array([[-1.25, 1.25], [-0.001, 0.001]]), ["age", "weight"], ["ill", "well"]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["-1.2", "+1.2", "+0.0", "+0.0"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["age", "weight"]


# ---- Correlations of topics as a picture -----------------------------------------------------------------

MATRIX = np.array([[1, 0.9, 0.1, -0.6], [0.9, 1, 0.5, 0.2], [0.1, 0.5, 1, 0.0], [-0.6, 0.2, 0.0, 1]])
GROUPS = np.array([0, 0, 1, 1])


def test_pairs_are_of_different_groups_and_each_topic_is_in_one() -> None:
    assert strongest_pairs(MATRIX, GROUPS, 5) == [(0, 3), (1, 2)]
    assert strongest_pairs(MATRIX, GROUPS, 1) == [(0, 3)]
    assert strongest_pairs(MATRIX, np.zeros(4), 3) == []
    assert strongest_pairs(np.zeros((0, 0)), np.zeros(0), 3) == []


def test_the_words_are_on_the_picture(tmp_path: Path) -> None:
    figure = topic_correlations(MATRIX, ["moon", "car", "god", "gun"], GROUPS, np.ones(4), pairs=2)
    written = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    assert "-0.60" in written
    assert "moon (1.00 nats)\ngun (1.00 nats)" in written
    save(figure, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
