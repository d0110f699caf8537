"""Analogies in numbers: does the changed factor show, and does everything else stay."""

from __future__ import annotations

import numpy as np

from unknot.errors import SpecError


def share_as_intended(read: np.ndarray, intended: np.ndarray | None = None) -> float:
    """Share of items that are read as what they were made for; ``read`` is ``(N, K)``, a column for each setting.

    ``intended`` ``(K,)`` are the classes that the columns were made for; by default column k was made for class k.

    >>> share_as_intended(np.array([[0, 1, 2], [0, 0, 2]]))
    0.8333333333333334
    """
    return float(np.mean(read == (np.arange(read.shape[1]) if intended is None else intended)))


def nearest_setting(read: np.ndarray, settings: np.ndarray) -> np.ndarray:
    """Which of the settings ``(K, D)`` each prediction ``(..., D)`` is nearest to: numbers taken as one of K classes.

    >>> nearest_setting(np.array([[0.2], [0.9]]), np.array([[0.0], [1.0]])).tolist()
    [0, 1]
    """
    distances = np.linalg.norm(read[..., None, :] - settings, axis=-1)  # (..., K)
    return np.asarray(distances.argmin(-1))


def style_shift(before: np.ndarray, after: np.ndarray) -> float:
    """How far codes move, ``mean |after - before| / mean |before_i - before_j|`` over pairs of different items.

    ``before`` ``(N, D)`` are the codes that images were made from, ``after`` ``(N, K, D)`` those recognized from
    the images. 0: nothing moves; 1: as different as the codes of two items taken at random. Classes are codes as
    one-hot rows. Where all items have one code, nothing is far: 0 if none moves, infinity if one does.

    >>> style_shift(np.array([[0.0], [2.0]]), np.array([[[0.5]], [[2.0]]]))
    0.125
    """
    moved = np.linalg.norm(after - before[:, None], axis=-1).mean()
    count = len(before)
    apart = np.linalg.norm(before[:, None] - before[None], axis=-1).sum() / max(count * (count - 1), 1)
    if apart == 0:
        return float("inf") if moved else 0.0
    return float(moved / apart)


def colors_kept(before: np.ndarray, after: np.ndarray) -> float:
    """Correlation of colors ``(N, C)`` with those of the images made of them, ``(N, K, C)``.

    A channel's correlation is over all N · K pairs; the mean over channels is given. It is 0 where a channel is the
    same in all.

    >>> colors = np.random.default_rng(0).random((5, 3))
    >>> round(colors_kept(colors, np.stack([colors, colors], 1) / 2), 6)
    1.0
    """
    given = np.broadcast_to(before[:, None], after.shape)
    given, made = given - given.mean((0, 1)), after - after.mean((0, 1))
    together = (given * made).sum((0, 1))
    apart = np.sqrt((given**2).sum((0, 1)) * (made**2).sum((0, 1)))
    return float(np.mean(np.where(apart > 0, together / np.where(apart > 0, apart, 1), 0)))


# ---- Sharpness of images: how much neighboring pixels differ ---------------------------------------------


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
