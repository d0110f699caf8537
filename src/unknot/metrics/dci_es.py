"""DCI-ES: how simple a reader of the codes may be, and how many codes there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.metrics.dci import FittedForest, fit_forests
from unknot.metrics.parts.columns import Arrays, Discrete
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Result, named
from unknot.metrics.protocols import Trees


@dataclass(frozen=True, kw_only=True, repr=False)
class DciEs(Result):
    """``curves`` ``(factors, depths)``: the smallest test loss up to each depth."""

    explicitness: float
    size: float
    by_factor: Mapping[str, float]
    curves: np.ndarray


def dci_es(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> DciEs:
    """Eastwood et al. 2023, ``E = mean_k 1 - 2 ∫ (l_k(x) - min l_k) dx / ((x_max - x_min) b_k)`` and ``S = K / D``.

    x is the depth of the trees, l_k the smallest loss up to that depth on rows that were not trained on (1 - accuracy,
    or 1 - R²), b_k that of knowing nothing (the rarest mistakes of one fixed answer, or 1). 1: trees of the first
    depth do as well as any; 0: the loss falls in a straight line from b_k to 0; it can be below 0. **A factor that no
    depth can read has E = 1**: look at DCI's informativeness beside it.
    """
    given = prepare("dci_es", codes, factors, discrete, discrete_factors, seed, protocol)
    forests = fit_forests(given.codes, given.factors, given.settings, seed)
    curves, explicit = read_curves(forests, given.settings)
    return DciEs(
        explicitness=float(explicit.mean()),
        size=len(given.factors.names) / len(given.codes.names),
        by_factor=named(given.factors.names, explicit),
        curves=curves,
        **given.said,
    )


def read_curves(fitted: list[FittedForest], settings: Trees) -> tuple[np.ndarray, np.ndarray]:
    """Loss by depth ``(K, depths)`` and explicitness ``(K,)``."""
    curves = np.array(
        [np.minimum.accumulate(1 - one.forest.scores(*one.test, settings.depths)) for one in fitted]
    )
    baseline = np.array([_know_nothing(one) for one in fitted])
    return curves, area_explicitness(np.array(settings.depths, dtype=float), curves, baseline)


def area_explicitness(depths: np.ndarray, curves: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """E of each curve.

    >>> area_explicitness(np.array([1.0, 2.0, 3.0]), np.array([[1.0, 0.5, 0.0], [0.2, 0.2, 0.2]]), np.ones(2)).tolist()
    [0.0, 1.0]
    """
    above = curves - curves.min(1, keepdims=True)
    area = ((above[:, 1:] + above[:, :-1]) / 2 * np.diff(depths)).sum(1)
    return 1 - 2 * area / ((depths[-1] - depths[0]) * np.maximum(baseline, np.finfo(float).tiny))


def _know_nothing(one: FittedForest) -> float:
    y = one.test[1]
    if one.forest.discrete:
        return 1 - np.unique(y, return_counts=True)[1].max() / len(y)
    return 1.0
