"""Which codes are alive: those that vary at all."""

from __future__ import annotations

import numpy as np

from unknot.metrics.parts.columns import Columns


def live_codes(codes: Columns, dead_below: float) -> np.ndarray:
    """``(D,)``: whether a code's standard deviation reaches ``dead_below``; a category's is that of its one-hot vector.

    A category that nearly all items share hardly varies, as a pruned number does, and would win every vote for the code
    that stands still. With 0 every code counts as alive.
    """
    if dead_below == 0:
        return np.ones(len(codes.names), dtype=bool)
    spread = np.array(
        [_deviation(column, size) for column, size in zip(codes.values.T, codes.sizes, strict=True)]
    )
    return spread >= dead_below


def _deviation(column: np.ndarray, size: int) -> float:
    """Of a number its standard deviation, of a category √(1 - Σ_c p_c²), Gini's variance to the half."""
    if not size:
        return float(column.std())
    share = np.bincount(column.astype(int), minlength=size) / len(column)
    return float(np.sqrt(max(0.0, 1 - (share**2).sum())))
