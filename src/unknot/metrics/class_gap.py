"""E19's variant of MIG: does the discrete code know the class, and no continuous one."""

from __future__ import annotations

from typing import Any

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Discrete
from unknot.metrics.parts.information import information
from unknot.metrics.parts.prepare import prepare
from unknot.metrics.parts.result import Score, named


def class_gap(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """E19 Fig. 6: ``I(y; c) - max_i I(y; z_i)`` in nats, for each factor y, and their mean.

    c is the discrete code that knows most of y, z_i the continuous ones.
    """
    given = prepare("class_gap", codes, factors, discrete, discrete_factors, seed, protocol)
    categories = given.codes.discrete
    if categories.all() or not categories.any():
        raise DataError(
            "class_gap compares discrete codes with continuous ones, and all codes are "
            f"{'discrete' if categories.all() else 'continuous'}: say which is which with `discrete`."
        )
    found = information(given.codes, given.factors, given.settings).mutual
    gaps = found[categories].max(0) - found[~categories].max(0)
    by_factor = named(given.factors.names, gaps)
    return Score(value=float(gaps.mean()), by_factor=by_factor, matrix=found, **given.said)
