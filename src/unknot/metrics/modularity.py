"""Modularity: does each code know one factor only."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete, prepare
from unknot.metrics.parts.information import information
from unknot.metrics.parts.result import Score, named


def modularity(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """Ridgeway & Mozer 2018, ``mean_j 1 - Σ_{k≠k*} I(z_j; v_k)² / (I(z_j; v_k*)² (K - 1))``.

    k* is the factor that code j knows best. A code without any information counts 0.
    """
    given = prepare("modularity", codes, factors, discrete, discrete_factors, seed, protocol)
    squared = information(given.codes, given.factors, given.settings).mutual ** 2
    best = squared.max(1)
    others = (squared.sum(1) - best) / np.maximum(best, np.finfo(float).tiny)
    parts = np.where(best > 0, 1 - others / max(squared.shape[1] - 1, 1), 0.0)
    by_code = named(given.codes.names, parts)
    return Score(value=float(parts.mean()), by_code=by_code, matrix=np.sqrt(squared), **given.said)
