"""The importance matrix: every cell in its place, numbers where there is room, names on both sides."""

from __future__ import annotations

import numpy as np

from unknot.plots.importance_matrix import importance_matrix


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
