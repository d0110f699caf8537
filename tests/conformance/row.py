"""One comparison of an estimator of q(z) with the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

ALLOWED = 5.0  # standard errors: a right estimator fails a check once in two million


@dataclass(frozen=True)
class Row:
    """One comparison: what was measured, with its standard error, and what was expected of it."""

    what: str
    estimator: str
    N: int
    B: int
    measured: float
    error: float
    spread: float
    expected: str
    ok: bool


def summary(values: Tensor) -> tuple[float, float, float]:
    """Mean, its standard error, standard deviation."""
    spread = float(values.std())
    return float(values.mean()), spread / math.sqrt(len(values)), spread
