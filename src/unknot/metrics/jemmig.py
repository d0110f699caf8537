"""JEMMIG: MIG that also asks the best code to know nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete
from unknot.metrics.parts.information import gap, information
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Score, named


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
