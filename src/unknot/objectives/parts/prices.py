"""Prices on the parts of a bound: S17's objective and E19's decomposition in one.

The bound holds the information, the correlation between groups and the correlation within them once each (E19 Fig. 3).
A price c on a part makes it count c times, so what is added to the bound is (c - 1) times the part. A price above one
discourages it, one between zero and one allows it, and one below zero rewards it.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import MUTUAL_INFORMATION, RECONSTRUCTION, Options, decomposition_parts
from unknot.objectives.marginal.marginal_tree import Groups
from unknot.objectives.parts.groups import MARGINAL, ROOT
from unknot.suggest import did_you_mean

Number = float | Tensor
Prices = Number | Mapping[str, Number]


def priced_parts(
    q: Trace,
    p: Trace,
    dataset_size: int | None,
    groups: Groups | None,
    information: Number,
    between: Number,
    within: Prices,
    options: Options,
) -> tuple[dict[str, Tensor], dict[str, Number]]:
    """The parts of the bound whose price is not one, for every draw, and the weights that they get beside the bound.

    Arguments:

    * ``q``, ``p``: the two traces of a batch;
    * ``dataset_size``, ``groups``, ``options``: as of :func:`~unknot.objectives.decomposition.decompose`;
    * ``information``: the price of ``mutual_information``;
    * ``between``: the price of the root's ``between``;
    * ``within``: the price of all correlations below it, or by name, ``{"within[z]": 3.0}``, and one for the others.
    """
    named, other = (within, 1.0) if isinstance(within, Mapping) else ({}, within)
    if not named and all(_is_one(price) for price in (information, between, other)):
        return {}, {}
    if dataset_size is None:
        raise SpecError(
            "semi_supervised: a price on information, between or within needs dataset_size, the number of items."
        )
    parts = decomposition_parts(q, p, dataset_size, groups, options).values
    for name in named:
        below = [part for part in parts if part not in (RECONSTRUCTION, MARGINAL, MUTUAL_INFORMATION, ROOT)]
        if name not in below:
            raise SpecError(f"within: there is no term '{name}'; {did_you_mean(name, below)}")
    fixed = {RECONSTRUCTION: 1.0, MARGINAL: 1.0, MUTUAL_INFORMATION: information, ROOT: between, **named}
    prices = {name: fixed.get(name, other) for name in parts}
    chosen = {name: price for name, price in prices.items() if not _is_one(price)}
    return {name: parts[name] for name in chosen}, {name: price - 1.0 for name, price in chosen.items()}


def _is_one(price: Number) -> bool:
    return isinstance(price, float | int) and price == 1
