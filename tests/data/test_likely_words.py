"""Likely words."""

import numpy as np

from unknot.data.likely_words import likely_words

WORDS = ["car", "engine", "moon"]


def test_the_likeliest_come_first_whatever_the_shape() -> None:
    rows = np.array([[[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]]])
    assert likely_words(WORDS, rows).tolist() == [["engine moon car", "car"]]
    assert likely_words(WORDS, rows, 1).tolist() == [["engine", "car"]]
    assert likely_words(WORDS, np.zeros((1, 3))).tolist() == [""]
