"""Correlations of topics as a picture."""

from pathlib import Path

import numpy as np

from unknot.plots.style import save
from unknot.plots.topic_correlations import strongest_pairs, topic_correlations

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
