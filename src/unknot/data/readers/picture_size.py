"""The size of pictures: one for all of a data set, and how a picture becomes of that size."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from unknot.errors import DataError

ORIGINAL = "original"
LARGEST_KEPT = 64  # pixels along the longest side up to which pictures of one size are kept
USUAL = 32  # pixels along the longest side of resized pictures
_SMALLEST = 8  # pixels along the other side
_MOST = 4096  # pixels along a side

Size = int | Sequence[int] | str | None


@dataclass(frozen=True)
class PictureSize:
    """The size that pictures are read at.

    Attributes
    ----------
    height, width : int
        In pixels.
    resized_from : str
        What sizes they have, for the summary of the data; empty if all are kept as they are.
    """

    height: int
    width: int
    resized_from: str = ""


def choose_size(found: Collection[tuple[int, int]], size: Size = None) -> PictureSize:
    """Choose one size for pictures.

    Parameters
    ----------
    found : collection of (int, int)
        Height and width of each picture.
    size : int, sequence of two int, "original" or None
        The longest side in pixels; or height and width. None: pictures of one size are kept up to 64 pixels along the
        longest side, others get 32. "original": they are kept, and must have one size. The ratio of the sides is the
        median of the pictures'; a picture with another ratio is stretched.

    Examples
    --------
    >>> choose_size([(300, 200), (300, 200)])
    PictureSize(height=32, width=21, resized_from='200x300')
    >>> choose_size([(28, 28)])
    PictureSize(height=28, width=28, resized_from='')
    """
    check_size(size)
    different = set(found)
    if len(different) == 1:
        height, width = next(iter(different))
        if size == ORIGINAL or (size is None and max(height, width) <= LARGEST_KEPT):
            return PictureSize(height, width)
    elif size == ORIGINAL:
        first, second = list(dict.fromkeys(found))[:2]
        raise DataError(
            f"pictures must have one size for a described model, but there are {_shown(first)} and {_shown(second)}; "
            "size: 64 (size=64 in Python) reads all with 64 pixels along the longest side."
        )
    height, width = _target(found, size)
    return PictureSize(height, width, "" if different == {(height, width)} else _range(different))


def check_size(size: Size) -> None:
    """Refuse a size that is none."""
    if size is None or size == ORIGINAL:
        return
    numbers = (size, size) if isinstance(size, int) else size
    pair = isinstance(numbers, list | tuple) and len(numbers) == 2
    if pair and all(isinstance(n, int) and not isinstance(n, bool) and 1 <= n <= _MOST for n in numbers):
        return
    raise DataError(
        f"size is the longest side of pictures in pixels, as 64, or height and width, as [48, 64], but got {size!r}."
    )


def resize(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return a picture ``(H, W)`` or ``(H, W, C)``, uint8 or float32, of another size by averaging."""
    from PIL import Image

    if picture.shape[:2] == (height, width):
        return picture
    if picture.ndim == 3 and (picture.dtype != np.uint8 or picture.shape[2] not in (3, 4)):
        return np.stack([resize(picture[..., c], height, width) for c in range(picture.shape[2])], -1)
    image = Image.fromarray(np.ascontiguousarray(picture))
    return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR))


def _target(found: Collection[tuple[int, int]], size: Size) -> tuple[int, int]:
    """Return height and width for a longest side, with the median ratio of the sides."""
    if not isinstance(size, int | None):
        return int(size[0]), int(size[1])
    longest = size or min(USUAL, round(statistics.median(max(one) for one in found)))
    ratio = statistics.median(height / width for height, width in found)
    height, width = (1.0, 1 / ratio) if ratio >= 1 else (ratio, 1.0)
    least = min(_SMALLEST, longest)
    return max(least, round(longest * height)), max(least, round(longest * width))


def _range(different: set[tuple[int, int]]) -> str:
    ordered = sorted(different, key=lambda one: (one[0] * one[1], one))
    return " to ".join(_shown(one) for one in dict.fromkeys([ordered[0], ordered[-1]]))


def _shown(size: tuple[int, int]) -> str:
    """Return a size as people write it: width x height."""
    return f"{size[1]}x{size[0]}"
