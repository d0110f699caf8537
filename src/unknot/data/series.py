"""Series among other items: what their shape says."""

from __future__ import annotations

from collections.abc import Sequence

from unknot.data.dataset import Dataset

_FEWEST_PIXELS = 8  # along a side of an image
_LONGEST = 4  # how many times one side of an image is as long as the other, at most


def is_series_shape(shape: Sequence[int]) -> bool:
    """Return whether arrays of a shape ``(N, C, T)`` are series and not gray images: few channels, or many steps.

    >>> is_series_shape((300, 4, 50)), is_series_shape((300, 12, 1000)), is_series_shape((300, 28, 28))
    (True, True, False)
    """
    if len(shape) != 3 or shape[1] == shape[2]:
        return False
    short, long = sorted(shape[1:])
    return short < _FEWEST_PIXELS or long > _LONGEST * short


def is_series(data: Dataset) -> bool:
    """Return whether items are series ``(C, T)``: images have a further axis, of colors."""
    return len(data.item_shape) == 2 and data.item_shape[0] != data.item_shape[1]
