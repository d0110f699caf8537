"""How far a recogniser's numbers are from the truth."""

from __future__ import annotations

import numpy as np

from unknot.errors import SpecError


def root_mean_square_error(truth: np.ndarray, guess: np.ndarray) -> float:
    """``sqrt(mean (guess - truth)²)`` over the entries that are known.

    >>> root_mean_square_error(np.array([0.0, np.nan, 2.0]), np.array([1.0, 5.0, 1.0]))
    1.0
    """
    known = ~np.isnan(truth)
    _refuse_nothing("root_mean_square_error", known)
    return float(np.sqrt(np.mean((guess[known] - truth[known]) ** 2)))


def mean_angle(truth: np.ndarray, guess: np.ndarray) -> float:
    """Mean angle in degrees between directions, ``(N, D)``; lengths do not matter, but a zero vector has no direction.

    >>> round(mean_angle(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])), 6)
    45.0
    """
    known = ~np.isnan(truth).any(-1)
    _refuse_nothing("mean_angle", known)
    for what, vectors in (("truth", truth), ("guess", guess)):
        zero = known & (np.linalg.norm(vectors, axis=-1) == 0)
        if zero.any():
            raise SpecError(
                f"mean_angle: the {what} of item {int(zero.argmax())} is a zero vector, which has no direction; leave "
                "such items out (NaN in truth)"
            )
    truth, guess = truth[known], guess[known]
    cosine = (truth * guess).sum(-1) / (np.linalg.norm(truth, axis=-1) * np.linalg.norm(guess, axis=-1))
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).mean())


def _refuse_nothing(score: str, known: np.ndarray) -> None:
    if not known.any():
        raise SpecError(f"{score}: expected known values, but all {known.size} are NaN")
