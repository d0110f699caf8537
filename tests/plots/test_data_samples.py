"""The picture of samples: one row a set, images as they are, words as text."""

from __future__ import annotations

import numpy as np

from unknot.plots.data_samples import COLUMNS, SampleRow, data_samples


def test_images_and_words() -> None:
    grey = np.full((3, 1, 4, 5), 7, dtype=np.uint8)
    colour = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)
    rows = [
        SampleRow("grey", ["a", "b", "c"], grey),
        SampleRow("colour", ["d", "e"], colour),
        SampleRow("texts", ["f"], words=[["moon", "car", "god"]]),
    ]
    figure = data_samples(rows)
    parts = figure.subfigs
    assert [part.get_suptitle() for part in parts] == ["grey", "colour", "texts"]
    assert [len(part.axes) for part in parts] == [COLUMNS, COLUMNS, COLUMNS // 3]
    np.testing.assert_array_equal(parts[0].axes[2].images[0].get_array(), grey[2, 0])
    np.testing.assert_array_equal(parts[1].axes[1].images[0].get_array(), colour[1].transpose(1, 2, 0))
    assert parts[2].axes[0].texts[0].get_text() == "moon car\ngod"
    assert parts[0].axes[1].get_title() == "b"
