"""DCIMIG: each factor's best code, counted by how far that code prefers it."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete
from unknot.metrics.parts.information import gap, information
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Score, named


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
