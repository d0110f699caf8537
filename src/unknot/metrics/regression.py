"""How far an encoder's numbers are from the truth, item by item; means and intervals are taken of these."""

from __future__ import annotations

import numpy as np

from unknot.errors import SpecError


def squared_errors(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """``mean_d (guess_d - truth_d)²`` of every item that is known, from ``(N, D)``; an item is known or not as a whole.

    >>> squared_errors(np.array([[0.0], [np.nan], [2.0]]), np.array([[1.0], [5.0], [5.0]])).tolist()
    [1.0, 9.0]
    """
    known = ~np.isnan(truth).any(-1)
    _refuse_nothing("squared_errors", known)
    return ((guess[known] - truth[known]) ** 2).mean(-1, dtype=np.float64)


def angles(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """The angle in degrees to every known direction, from ``(N, D)``; lengths do not matter, but zero has none.

    >>> angles(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])).round(6).tolist()
    [45.0]
    """
    known = ~np.isnan(truth).any(-1)
    _refuse_nothing("angles", known)
    for what, vectors in (("truth", truth), ("guess", guess)):
        zero = known & (np.linalg.norm(vectors, axis=-1) == 0)
        if zero.any():
            raise SpecError(
                f"angles: the {what} of item {int(zero.argmax())} is a zero vector, which has no direction; leave "
                "such items out (NaN in truth)"
            )
    truth, guess = truth[known], guess[known]
    cosine = (truth * guess).sum(-1) / (np.linalg.norm(truth, axis=-1) * np.linalg.norm(guess, axis=-1))
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _refuse_nothing(score: str, known: np.ndarray) -> None:
    if not known.any():
        raise SpecError(f"{score}: expected known values, but all {known.size} items are NaN")
