"""The picture of samples: one row a set, images as they are, words as text."""

from __future__ import annotations

import numpy as np

from unknot.plots.data_samples import COLUMNS, SampleRow, data_samples


def test_images_and_words() -> None:
    gray = np.full((3, 1, 4, 5), 7, dtype=np.uint8)
    color = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)
    rows = [
        SampleRow("gray", ["a", "b", "c"], gray),
        SampleRow("color", ["d", "e"], color),
        SampleRow("texts", ["f"], words=[["moon", "car", "god"]]),
    ]
    figure = data_samples(rows)
    parts = figure.subfigs
    assert [part.get_suptitle() for part in parts] == ["gray", "color", "texts"]
    assert [len(part.axes) for part in parts] == [COLUMNS, COLUMNS, COLUMNS // 3]
    np.testing.assert_array_equal(parts[0].axes[2].images[0].get_array(), gray[2, 0])
    np.testing.assert_array_equal(parts[1].axes[1].images[0].get_array(), color[1].transpose(1, 2, 0))
    assert parts[2].axes[0].texts[0].get_text() == "moon car\ngod"
    assert parts[0].axes[1].get_title() == "b"
