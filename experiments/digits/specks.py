"""Specks: bits of ink that belong to no stroke.

A generator that is paid for images whose style can be read back may write the style in a few stray pixels. They are
connected parts of the ink, pixels side by side or corner to corner, that are too small to be drawn by hand.
"""

from __future__ import annotations

import numpy as np

from unknot.errors import SpecError

_INK = 0.3  # brightness from which a pixel is ink
_SMALL = 6  # pixels that a part has at least if it is no speck: a pen's dot is about three by three


def share_with_specks(images: np.ndarray) -> float:
    """The share of images ``(..., H, W)``, ink bright on dark, that have at least one speck.

    >>> stroke, speck = np.zeros((2, 9, 9))
    >>> stroke[1:8, 4] = speck[1:8, 4] = 1
    >>> speck[2, 8] = 1
    >>> share_with_specks(np.stack([stroke, speck]))
    0.5
    """
    from scipy.ndimage import label

    if images.ndim < 2 or not images.size:
        raise SpecError(f"share_with_specks: expected images (..., H, W), got {images.shape}")
    flat = images.reshape(-1, *images.shape[-2:])
    corners = np.ones((3, 3))
    found = 0
    for image in flat:
        parts, _ = label(image > _INK, structure=corners)
        sizes = np.bincount(parts.ravel())[1:]  # without what is not ink
        found += bool((sizes < _SMALL).any())
    return found / len(flat)
