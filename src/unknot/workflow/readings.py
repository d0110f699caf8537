"""Readings: of several ways to read an item, the one that the generative program explains best."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unknot.objectives.elbo import elbo

_AT_ONCE = 1000  # readings


def best_readings(program: Any, x: Tensor) -> dict[str, Tensor] | None:
    """Labels of the items that can be read in several ways: those of their best reading; -1 or NaN for the others.

    A recogniser decides step by step, and does not come back to a wrong step. A program may therefore offer, in a
    method ``readings(x)``, several answers for items of which it is not sure: their rows in ``x``, ``(R,)``, and for
    each of these R readings the labels, by name; and in ``explain(x, labels)`` both traces at such labels. The best
    reading y of an item is the one of the greatest bound

        L(x, y) = E_q(z|x,y) [ log p(x, y, z) - log q(z | x, y) ]                              (S17 Eq. 1)

    with the divergences in closed form and x explained at the best values of the rest. None if there is nothing to
    choose. Called inside :func:`~unknot.core.best_values.best_values`.
    """
    if not hasattr(program, "readings"):
        return None
    item, labels = program.readings(x)
    if not len(item):
        return None
    bounds = torch.cat([_bound(program, x, item, labels, rows) for rows in _chunks(len(item), item)])
    best = bounds.new_full((len(x),), -torch.inf).scatter_reduce(0, item, bounds, "amax")
    rows = (bounds == best[item]).nonzero()[:, 0]
    first = item.new_full((len(x),), len(item)).scatter_reduce(0, item[rows], rows, "amin")  # (B,)
    several = first < len(item)
    told = {}
    for name, values in labels.items():
        unknown = float("nan") if values.is_floating_point() else -1
        told[name] = values.new_full((len(x), *values.shape[1:]), unknown)
        told[name][several] = values[first[several]]
    return told


def _chunks(count: int, like: Tensor) -> tuple[Tensor, ...]:
    return torch.arange(count, device=like.device).split(_AT_ONCE)


def _bound(program: Any, x: Tensor, item: Tensor, labels: dict[str, Tensor], rows: Tensor) -> Tensor:
    read = x[item[rows]]
    q, p = program.explain(read, {name: values[rows] for name, values in labels.items()})
    return elbo(q, p, analytic=True).per_item  # (rows,)
