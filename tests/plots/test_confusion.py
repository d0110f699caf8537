"""Confusion matrices with their numbers."""

from __future__ import annotations

import numpy as np

from unknot.plots.confusion import confusion


def test_a_confusion_matrix_has_its_numbers() -> None:
    figure = confusion(np.array([[5, 0], [2, 3]]), ("cat", "a long name"), "animal")
    assert {text.get_text() for text in figure.axes[0].texts} == {"5", "2", "3"}
    (beside,) = figure.axes[0].child_axes
    assert [text.get_text() for text in beside.get_yticklabels()] == ["100 %", "60 %"]  # recalls
    many = confusion(np.eye(40, dtype=int), tuple(map(str, range(40))), "identity")
    assert not many.axes[0].texts
    assert len(many.axes[0].get_xticks()) <= 21
