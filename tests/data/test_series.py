"""Which shapes are series, and which are gray images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unknot.data import from_arrays
from unknot.data.series import is_series, is_series_shape


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((300, 4, 50), True),  # four channels
        ((300, 12, 1000), True),  # many steps
        ((300, 50, 4), True),  # either side may be the long one
        ((300, 28, 28), False),
        ((300, 16, 20), False),  # a photograph is not square
        ((300, 50), False),  # rows of a table, unless the user says otherwise
        ((300, 3, 32, 32), False),
    ],
)
def test_the_shape_tells_series_from_images(shape: tuple[int, ...], expected: bool) -> None:
    assert is_series_shape(shape) is expected


def test_images_have_an_axis_of_colors() -> None:
    images = from_arrays(np.zeros((6, 3, 20), dtype=np.float32))
    assert images.item_shape == (1, 3, 20)
    assert not is_series(images)
    assert is_series(replace(images, x=images.x[:, 0]))
