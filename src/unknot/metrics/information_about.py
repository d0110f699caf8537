"""How much each code knows of a factor, in nats."""

from __future__ import annotations

from typing import Any

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Discrete, prepare
from unknot.metrics.parts.information import information
from unknot.metrics.parts.result import Score, named


def information_about(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Score:
    """E19 Fig. 5: ``I(y; z_d)`` for each code, from ten bins of equal mass, and ``I(y; c)`` for a category.

    Of a code given as Probabilities, ``q(c|y)`` is the mean of q(c|x) over the items of class y. ``matrix`` holds
    all codes and factors, ``by_code`` a code's largest number, ``by_factor`` a factor's, ``value`` the mean of these.
    """
    given = prepare("information_about", codes, factors, discrete, discrete_factors, seed, protocol)
    found = information(given.codes, given.factors, given.settings).mutual
    return Score(
        value=float(found.max(0).mean()),
        by_code=named(given.codes.names, found.max(1)),
        by_factor=named(given.factors.names, found.max(0)),
        matrix=found,
        **given.said,
    )


# ---- E19's variant of MIG: does the discrete code know the class, and no continuous one ------------------


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
