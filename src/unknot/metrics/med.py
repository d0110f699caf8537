"""MED: DCI with mutual information in place of trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete
from unknot.metrics.parts.entropic import entropic
from unknot.metrics.parts.information import information
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Result, named


@dataclass(frozen=True, kw_only=True, repr=False)
class Med(Result):
    """``matrix`` ``(codes, factors)``: the share of each code in the information about a factor."""

    disentanglement: float
    completeness: float
    by_code: Mapping[str, float]
    by_factor: Mapping[str, float]
    matrix: np.ndarray


def med(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Med:
    """Cao et al. 2022: DCI's D and C of the importances ``I(v_k; z_j) / Σ_j' I(v_k; z_j')``."""
    given = prepare("med", codes, factors, discrete, discrete_factors, seed, protocol)
    mutual = information(given.codes, given.factors, given.settings).mutual
    importance = mutual / np.maximum(mutual.sum(0), np.finfo(float).tiny)
    found = entropic(importance)
    return Med(
        disentanglement=found.disentanglement,
        completeness=found.completeness,
        by_code=named(given.codes.names, found.by_code),
        by_factor=named(given.factors.names, found.by_factor),
        matrix=importance,
        **given.said,
    )
