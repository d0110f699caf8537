"""Which rows may tell what the data are: not those that are kept for the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def deciding_rows(splits: Mapping[str, Any], size: int) -> np.ndarray:
    """Bool ``(N,)``: the rows outside the split "test"; all, if there are no others.

    >>> deciding_rows({"train": [0, 1], "test": [2]}, 3)
    array([ True,  True, False])
    """
    rows = np.ones(size, dtype=bool)
    if "test" in splits and len(splits["test"]) < size:
        rows[np.asarray(splits["test"])] = False
    return rows
