"""MIG: how far the best code of a factor is ahead of the second best."""

from __future__ import annotations

from typing import Any

from unknot.metrics.parts.columns import Arrays, Discrete
from unknot.metrics.parts.information import gap, information
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Score, named


def mig(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """Mutual information gap (Chen et al. 2018), ``mean_k (I(v_k; z_1) - I(v_k; z_2)) / H(v_k)``.

    z_1 and z_2 are the two codes that know most of the factor v_k. The information is that of histograms, as in most
    comparisons; Chen et al. take it from the encoder's densities, which arrays do not have.
    """
    given = prepare("mig", codes, factors, discrete, discrete_factors, seed, protocol)
    found = information(given.codes, given.factors, given.settings)
    gaps = gap(found.mutual) / found.of_factors
    by_factor = named(given.factors.names, gaps)
    return Score(value=float(gaps.mean()), by_factor=by_factor, matrix=found.mutual, **given.said)
