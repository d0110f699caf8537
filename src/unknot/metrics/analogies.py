"""Analogies in numbers: does the changed factor show, and does everything else stay."""

from __future__ import annotations

import numpy as np


def share_as_intended(read: np.ndarray) -> float:
    """Share of images that are read as the class they were made for; ``read`` is ``(N, K)``, column k made as k.

    >>> share_as_intended(np.array([[0, 1, 2], [0, 0, 2]]))
    0.8333333333333334
    """
    return float(np.mean(read == np.arange(read.shape[1])))


def style_shift(before: np.ndarray, after: np.ndarray) -> float:
    """How far codes move, ``mean |after - before| / mean |before_i - before_j|`` over pairs of different items.

    ``before`` ``(N, D)`` are the codes that images were made from, ``after`` ``(N, K, D)`` those recognised from
    the images. 0: nothing moves; 1: as different as the codes of two items taken at random.

    >>> style_shift(np.array([[0.0], [2.0]]), np.array([[[0.5]], [[2.0]]]))
    0.125
    """
    moved = np.linalg.norm(after - before[:, None], axis=-1).mean()
    count = len(before)
    apart = np.linalg.norm(before[:, None] - before[None], axis=-1).sum() / (count * (count - 1))
    return float(moved / apart)
