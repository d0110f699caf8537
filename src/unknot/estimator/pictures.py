"""Pictures that users pass to an estimator in a list: PIL images, or arrays of different sizes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from unknot.data.float32_precision import numpy_of
from unknot.data.readers.picture_size import PictureSize, resize
from unknot.data.readers.read_options import ReadOptions
from unknot.errors import DataError

_COLORS = (1, 3, 4)  # gray, color, and color with transparency
_GRAY_MODES = ("1", "L")


def is_pictures(x: Any) -> bool:
    """Return whether x is a list of PIL images, or of arrays of several sizes: (H, W), (H, W, C) or (C, H, W).

    Arrays of one size are an array of numbers like any other.
    """
    if not isinstance(x, list | tuple) and not (isinstance(x, np.ndarray) and x.dtype == object):
        return False
    if len(x) == 0 or (np.ndim(x[0]) == 0 and not _is_pil(x[0])):
        return False
    if all(_is_pil(one) for one in x):
        return True
    arrays = all(isinstance(one, np.ndarray | Tensor) and one.ndim in (2, 3) for one in x)
    return arrays and len({tuple(one.shape) for one in x}) > 1


def read_pictures(x: Sequence[Any], options: ReadOptions) -> tuple[np.ndarray, PictureSize]:
    """Return pictures at one size, ``(N, C, H, W)``, uint8 or float32, and that size."""
    pictures = [_pixels(one, row) for row, one in enumerate(x)]  # each (H, W, C)
    types = {picture.dtype for picture in pictures}
    if len(types) > 1:
        raise DataError(
            f"x holds pictures of {' and '.join(sorted(map(str, types)))}; make all uint8 (0 to 255), or floats "
            "from 0 to 1."
        )
    size = options.picture_size([picture.shape[:2] for picture in pictures])
    wanted = (
        options.like.item_shape[0] if options.like is not None and len(options.like.item_shape) == 3 else 0
    )
    in_color = wanted == 3 or any(picture.shape[2] == 3 for picture in pictures)
    resized = []
    for picture in pictures:
        colored = np.repeat(picture, 3, axis=2) if in_color and picture.shape[2] == 1 else picture
        resized.append(resize(colored, size.height, size.width))
    return np.ascontiguousarray(np.moveaxis(np.stack(resized), -1, 1)), size


def _pixels(one: Any, row: int) -> np.ndarray:
    """Return the pixels of a picture ``(H, W, C)`` with one color or three."""
    if _is_pil(one):
        if one.mode.startswith(("I", "F")):
            raise DataError(
                f"x, picture {row}: expected 8 bits per color, but its mode is {one.mode}; convert it by "
                "image.convert('L'), or give floats from 0 to 1."
            )
        pixels = np.asarray(one.convert("L" if one.mode in _GRAY_MODES else "RGB"))
    else:
        pixels = numpy_of(one) if isinstance(one, Tensor) else np.asarray(one)
        pixels = pixels.astype(np.float32) if pixels.dtype.kind == "f" else pixels
        if pixels.dtype not in (np.uint8, np.float32):
            raise DataError(
                f"x, picture {row}: expected uint8 (0 to 255) or floats from 0 to 1, but got {pixels.dtype}."
            )
    if pixels.ndim == 2:
        return pixels[..., None]
    if pixels.shape[2] not in _COLORS and pixels.shape[0] in _COLORS:
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.shape[2] not in _COLORS:
        raise DataError(
            f"x, picture {row}: expected (H, W), (H, W, 3) or (3, H, W), but got {tuple(np.shape(one))}."
        )
    return pixels[..., :3]


def _is_pil(one: Any) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(one, module.Image)
