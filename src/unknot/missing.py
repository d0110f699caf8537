"""The one "is it missing": None, NaN, and pandas' NA and NaT."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: None, NaN (which is not itself), or pandas' NA (which does not say).

    >>> [is_missing(value) for value in (None, float("nan"), 0, "", "nan")]
    [True, True, False, False, False]
    """
    if value is None:
        return True
    if isinstance(value, list | tuple | dict | np.ndarray):
        return False
    same = value == value
    return not isinstance(same, bool | np.bool_) or not same


def missing_entries(values: np.ndarray) -> np.ndarray:
    """Which entries of an array of objects are missing: bools of its shape."""
    return np.array([is_missing(value) for value in values.flat], dtype=bool).reshape(values.shape)
