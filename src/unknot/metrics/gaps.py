"""MIG: how far the best code of a factor is ahead of the second best."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete, live_codes, prepare
from unknot.metrics.parts.information import gap, information
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


# ---- MIG-sup: how far the factor a code knows best is ahead of the next one ------------------------------


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


# ---- DCIMIG: each factor's best code, counted by how far that code prefers it ----------------------------


def dcimig(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """3CharM (Sepliarskaia et al. 2019), ``Σ_k max_{j in J_k} R_j / Σ_k H(v_k)``.

    ``R_j`` is code j's information about the factor it knows best minus that about the next one, and ``J_k`` are the
    codes that know v_k best; a factor without such a code adds 0.
    """
    given = prepare("dcimig", codes, factors, discrete, discrete_factors, seed, protocol)
    found = information(given.codes, given.factors, given.settings)
    lead, favorite = gap(found.mutual.T), found.mutual.argmax(1)
    best = np.array([lead[favorite == k].max(initial=0.0) for k in range(len(found.of_factors))])
    by_factor = named(given.factors.names, best / found.of_factors)
    value = float(best.sum() / found.of_factors.sum())
    return Score(value=value, by_factor=by_factor, matrix=found.mutual, **given.said)


# ---- JEMMIG: MIG that also asks the best code to know nothing else ---------------------------------------


def jemmig(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """Joint entropy minus MIG (Do & Tran 2020), turned so that 1 is best.

    ``mean_k 1 - (H(v_k, z_1) - I(v_k; z_1) + I(v_k; z_2)) / (H(v_k) + log B)``: z_1 and z_2 know most of v_k, and B
    is the number of values the binned z_1 may take, its categories if it is discrete. 1: z_1 and v_k determine each
    other and no other code knows v_k.
    """
    given = prepare("jemmig", codes, factors, discrete, discrete_factors, seed, protocol)
    found = information(given.codes, given.factors, given.settings)
    best = found.mutual.argmax(0)
    joint = found.joint[best, np.arange(len(best))]
    parts = 1 - (joint - gap(found.mutual)) / (found.of_factors + np.log(found.code_values[best]))
    by_factor = named(given.factors.names, parts)
    return Score(value=float(parts.mean()), by_factor=by_factor, matrix=found.mutual, **given.said)
