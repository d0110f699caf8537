"""Confusion matrices with their numbers."""

from __future__ import annotations

import numpy as np

from unknot.plots.classification import confusion, predicted_against_true, reliability_diagram


def test_a_confusion_matrix_has_its_numbers() -> None:
    figure = confusion(np.array([[5, 0], [2, 3]]), ("cat", "a long name"), "animal")
    assert {text.get_text() for text in figure.axes[0].texts} == {"5", "2", "3"}
    (beside,) = figure.axes[0].child_axes
    assert [text.get_text() for text in beside.get_yticklabels()] == ["100 %", "60 %"]  # recalls
    many = confusion(np.eye(40, dtype=int), tuple(map(str, range(40))), "identity")
    assert not many.axes[0].texts
    assert len(many.axes[0].get_xticks()) <= 21


# ---- The reliability diagram: a dot a bin, larger where there are more items -----------------------------


def test_dots_lie_where_the_bins_are() -> None:
    axes = reliability_diagram([0.55, 0.95], [0.5, 1.0], [10, 100]).axes[0]
    dots = axes.collections[0]
    assert dots.get_offsets().tolist() == [[0.55, 0.5], [0.95, 1.0]]
    small, large = dots.get_sizes()
    assert small < large


# ---- Predicted against true: a dot an item, and no more than can be told apart ---------------------------


def test_every_item_is_a_dot_until_there_are_too_many() -> None:
    truth = np.array([1.0, 2.0, 4.0])
    axes = predicted_against_true(truth, truth + 1, "size").axes[0]
    assert axes.collections[0].get_offsets().tolist() == [[1, 2], [2, 3], [4, 5]]
    assert list(axes.lines[0].get_data()[0]) == [1, 5]  # the line of right answers
    many = np.arange(5000.0)
    assert len(predicted_against_true(many, many, "size").axes[0].collections[0].get_offsets()) <= 2000
