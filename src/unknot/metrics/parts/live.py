"""Which codes are alive: those that vary at all."""

from __future__ import annotations

import numpy as np

from unknot.metrics.parts.columns import Columns


def live_codes(codes: Columns, dead_below: float) -> np.ndarray:
    """``(D,)``: whether a number's standard deviation reaches ``dead_below``, or a category has two values.

    With 0 every code counts as alive.
    """
    if dead_below == 0:
        return np.ones(len(codes.names), dtype=bool)
    several = codes.values.min(0) < codes.values.max(0)
    return np.where(codes.discrete, several, codes.values.std(0) >= dead_below)
