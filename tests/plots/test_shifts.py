"""The map of shifts: every cell with its number, no minus before a zero."""

from __future__ import annotations

import numpy as np

from unknot.plots.shifts import shifts


def test_cells_are_labeled() -> None:
    axes = shifts(np.array([[-1.25, 1.25], [-0.001, 0.001]]), ["age", "weight"], ["ill", "well"]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["-1.2", "+1.2", "+0.0", "+0.0"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["age", "weight"]
