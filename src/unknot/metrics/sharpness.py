"""Sharpness of images: how much neighboring pixels differ."""

from __future__ import annotations

import numpy as np

from unknot.errors import SpecError


def sharpness(images: np.ndarray) -> float:
    """``sqrt(mean (x_i - x_j)²)`` over pixels i, j side by side or one above the other; ``images`` is ``(..., H, W)``.

    Blurring lowers it, so that the ratio to real images says how soft made ones are. It does not tell a blurred edge
    from a pale one.

    >>> sharpness(np.array([[0.0, 1.0], [0.0, 1.0]]))
    0.7071067811865476
    """
    if images.ndim < 2 or max(images.shape[-2:]) < 2:
        raise SpecError(f"sharpness: expected images (..., H, W) of several pixels, got {images.shape}")
    across, down = np.diff(images, axis=-1), np.diff(images, axis=-2)
    return float(np.sqrt((np.sum(across**2) + np.sum(down**2)) / (across.size + down.size)))
