"""Answers that are sets: how many things, which, and where, in whatever order they were found."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.optimize import linear_sum_assignment

from unknot.errors import DataError


def set_accuracy(found: np.ndarray, truth: np.ndarray) -> float:
    """Share of items whose things are named right, all of them and no more, in any order.

    ``found`` and ``truth`` are class indices ``(N, K)`` with -1 in slots that hold nothing; their K may differ.

    >>> set_accuracy(np.array([[3, 1], [2, -1]]), np.array([[1, 3, -1], [2, 2, -1]]))
    0.5
    """
    found, truth = _slots(found, "found"), _slots(truth, "truth")
    if len(found) != len(truth) or not len(truth):
        raise DataError(
            f"set_accuracy: as many items in found as in truth, got {len(found)} and {len(truth)}."
        )
    named = [
        Counter(ours[ours >= 0].tolist()) == Counter(theirs[theirs >= 0].tolist())
        for ours, theirs in zip(found, truth, strict=True)
    ]
    return float(np.mean(named))


def matched_distance(found: np.ndarray, truth: np.ndarray) -> float:
    """Mean distance between things found and true ones, matched one to one so that the sum is least.

    ``found`` and ``truth`` are places ``(N, K, D)`` with NaN in slots that hold nothing. Where an item has more of one
    than of the other, the surplus is left out: counts are judged apart. NaN if nothing can be matched.

    >>> matched_distance(np.array([[[5.0, 0.0], [0.0, 0.0]]]), np.array([[[0.0, 1.0], [5.0, 0.0]]]))
    0.5
    """
    if found.ndim != 3 or truth.ndim != 3 or len(found) != len(truth) or found.shape[-1] != truth.shape[-1]:
        raise DataError(
            f"matched_distance: found and truth are (N, K, D) with the same N and D, got {found.shape} and "
            f"{truth.shape}."
        )
    distances: list[float] = []
    for ours, theirs in zip(found, truth, strict=True):
        ours, theirs = ours[~np.isnan(ours).any(-1)], theirs[~np.isnan(theirs).any(-1)]
        apart = np.linalg.norm(ours[:, None] - theirs, axis=-1)  # (things found, true things)
        distances += apart[linear_sum_assignment(apart)].tolist()
    return float(np.mean(distances)) if distances else float("nan")


def _slots(classes: np.ndarray, what: str) -> np.ndarray:
    if classes.ndim != 2 or not np.issubdtype(classes.dtype, np.integer):
        raise DataError(f"set_accuracy: {what} is whole numbers (N, K), got {classes.dtype} {classes.shape}.")
    return classes
