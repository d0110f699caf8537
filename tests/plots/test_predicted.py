"""Predicted against true: a dot an item, and no more than can be told apart."""

from __future__ import annotations

import numpy as np

from unknot.plots.predicted import predicted_against_true


def test_every_item_is_a_dot_until_there_are_too_many() -> None:
    truth = np.array([1.0, 2.0, 4.0])
    axes = predicted_against_true(truth, truth + 1, "size").axes[0]
    assert axes.collections[0].get_offsets().tolist() == [[1, 2], [2, 3], [4, 5]]
    assert list(axes.lines[0].get_data()[0]) == [1, 5]  # the line of right answers
    many = np.arange(5000.0)
    assert len(predicted_against_true(many, many, "size").axes[0].collections[0].get_offsets()) <= 2000
