"""Prices on the parts of a bound: S17's objective and E19's decomposition in one.

The bound holds the information, the correlation between groups and the correlation within them once each (E19 Fig. 3).
A price c on a part makes it count c times, so what is added to the bound is (c - 1) times the part. A price above one
discourages it, one between zero and one allows it, and one below zero rewards it. A price on the correlation of some
groups alone, or on what one of them knows, adds (c - 1) times that term in the same way: between two groups that are
all there is, it is the price of the root.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import MUTUAL_INFORMATION, RECONSTRUCTION, Options, decomposition_parts
from unknot.objectives.marginal.marginal_tree import Groups
from unknot.objectives.parts.group_terms import correlation_between, information_of, root_correlation
from unknot.objectives.parts.groups import MARGINAL, ROOT
from unknot.suggest import did_you_mean

Number = float | Tensor
Prices = Number | Mapping[str, Number]


def priced_parts(
    q: Trace,
    p: Trace,
    dataset_size: int | None,
    groups: Groups | None,
    information: Prices,
    between: Prices,
    within: Prices,
    options: Options,
) -> tuple[dict[str, Tensor], dict[str, Number]]:
    """The parts of the bound whose price is not one, for every draw, and the weights that they get beside the bound.

    Arguments:

    * ``q``, ``p``: the two traces of a batch;
    * ``dataset_size``, ``groups``, ``options``: as of :func:`~unknot.objectives.decomposition.decompose`;
    * ``information``: the price of ``mutual_information``; or by group, ``{"style": 2.0}``, of what each knows of x;
    * ``between``: the price of the root's ``between``; or by pair, ``{"digit, style": 6.0}``, of the correlation of
      these two (or more) alone (:mod:`unknot.objectives.parts.group_terms`);
    * ``within``: the price of all correlations below the root, or by name, ``{"within[z]": 3.0}``, and one for the
      others.
    """
    (knowing, whole), (pairs, root), (named, other) = map(_by_name, (information, between, within))
    if not (named or pairs or knowing) and all(_is_one(price) for price in (whole, root, other)):
        return {}, {}
    if dataset_size is None:
        raise SpecError(
            "semi_supervised: a price on information, between or within needs dataset_size, the number of items."
        )
    values: dict[str, Tensor] = {}
    weights: dict[str, Number] = {}
    if not named and _is_one(whole) and _is_one(other):
        if not _is_one(root):
            values[ROOT] = root_correlation(q, p, dataset_size, groups, options)
            weights[ROOT] = root - 1.0
    else:
        parts = decomposition_parts(q, p, dataset_size, groups, options).values
        fixed = {RECONSTRUCTION: 1.0, MARGINAL: 1.0, MUTUAL_INFORMATION: whole, ROOT: root}
        _refuse_unknown_parts(named, [part for part in parts if part not in fixed])
        prices = {name: {**fixed, **named}.get(name, other) for name in parts}
        chosen = {name: price for name, price in prices.items() if not _is_one(price)}
        values |= {name: parts[name] for name in chosen}
        weights |= {name: price - 1.0 for name, price in chosen.items()}
    for name, price in pairs.items():
        values[f"between[{name}]"] = correlation_between(q, p, name, dataset_size, groups, options)
        weights[f"between[{name}]"] = price - 1.0
    for name, price in knowing.items():
        values[f"information[{name}]"] = information_of(q, name, dataset_size, groups, options)
        weights[f"information[{name}]"] = price - 1.0
    return values, weights


def _by_name(prices: Prices) -> tuple[Mapping[str, Number], Number]:
    """Prices by name, and that of everything without a name."""
    return (prices, 1.0) if isinstance(prices, Mapping) else ({}, prices)


def _refuse_unknown_parts(named: Mapping[str, Number], below: list[str]) -> None:
    for name in named:
        if name not in below:
            raise SpecError(f"within: there is no term '{name}'; {did_you_mean(name, below)}")


def _is_one(price: Number) -> bool:
    return isinstance(price, float | int) and price == 1
