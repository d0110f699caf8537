"""DCI-ES: how simple a reader of the codes may be, and how many codes there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.metrics.importance import Dci, FittedForest, dci_from, fit_forests
from unknot.metrics.parts.columns import Arrays, Columns, Discrete, Prepared, prepare
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
    return _dci_es_from(given, fit_forests(given.codes, given.factors, given.settings, seed))


def dci_and_es(
    codes: Columns, factors: Columns, seed: int | None, protocol: Any = None, es_protocol: Any = None
) -> tuple[Dci, DciEs] | None:
    """Both scores of the same codes from the same forests, for half the time; None: their protocols grow others."""
    one = prepare("dci", codes, factors, None, None, seed, protocol)
    two = prepare("dci_es", codes, factors, None, None, seed, es_protocol)
    if seed is None or _grown(one.settings) != _grown(two.settings):
        return None
    forests = fit_forests(one.codes, one.factors, one.settings, seed)
    return dci_from(one, forests), _dci_es_from(two, forests)


def _grown(settings: Trees) -> tuple[Any, ...]:
    """All that a forest depends on, beside the data and the seed."""
    return settings.model, settings.trees, max(settings.depths), settings.shares, settings.points


def _dci_es_from(given: Prepared, forests: list[FittedForest]) -> DciEs:
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
