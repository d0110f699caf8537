"""MIG-sup: how far the factor a code knows best is ahead of the next one."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete
from unknot.metrics.parts.information import gap, information
from unknot.metrics.parts.live import live_codes
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Score, named


def mig_sup(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """MIG's other half (Li et al. 2020), ``mean_j (J(z_j; v_1) - J(z_j; v_2))`` over the codes.

    v_1 and v_2 are the two factors that code j knows best, and J is the information as a share: of H(z_j) in
    carbonneau2020, of H(v) in li2020. Codes that are dead count 0 in the first and are left out in the second.
    """
    given = prepare("mig_sup", codes, factors, discrete, discrete_factors, seed, protocol)
    found = information(given.codes, given.factors, given.settings)
    whole = found.of_codes[:, None] if given.settings.divide_by == "code" else found.of_factors
    shares = found.mutual / np.maximum(whole, np.finfo(float).tiny)
    gaps = gap(shares.T)
    live = live_codes(given.codes, given.settings.dead_below)
    value = float(gaps[live].mean()) if live.any() else 0.0
    return Score(value=value, by_code=named(given.codes.names, gaps), matrix=shares, **given.said)
