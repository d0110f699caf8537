"""Candidates: of several candidate predictions for an item, the one with the largest ELBO."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.core.program import Program
from unknot.objectives.elbo import elbo

_AT_ONCE = 1000  # candidates


def best_candidates(program: Program, x: Tensor) -> dict[str, Tensor] | None:
    """Choose the best of the candidate predictions that a program offers for uncertain items.

    An encoder decides step by step, and does not return to a wrong step. A program may therefore offer several
    candidates y for an item (:meth:`unknot.core.program.Program.candidates`). The best one has the largest bound

        L(x, y) = E_q(z|x,y) [ log p(x, y, z) - log q(z | x, y) ]                              (S17 Eq. 1)

    with divergences in closed form, and x scored at the modes of the other sites. Call this function inside
    :class:`~unknot.core.handlers.modes`.

    Parameters
    ----------
    program : Program
        The model.
    x : Tensor
        Items, ``(B, ...)``.

    Returns
    -------
    dict from factor to Tensor, or None
        Labels ``(B, ...)`` of the items that have candidates, and -1 or NaN for the others. None if no item has any.
    """
    offered = program.candidates(x)
    if offered is None or not len(offered[0]):
        return None
    item, labels = offered
    bounds = torch.cat([_bound(program, x, item, labels, rows) for rows in _chunks(len(item), item)])
    best = bounds.new_full((len(x),), -torch.inf).scatter_reduce(0, item, bounds, "amax")
    rows = (bounds == best[item]).nonzero()[:, 0]
    first = item.new_full((len(x),), len(item)).scatter_reduce(0, item[rows], rows, "amin")  # (B,)
    chosen = first < len(item)
    found = {}
    for name, values in labels.items():
        unknown = float("nan") if values.is_floating_point() else -1
        found[name] = values.new_full((len(x), *values.shape[1:]), unknown)
        found[name][chosen] = values[first[chosen]]
    return found


def _chunks(count: int, like: Tensor) -> tuple[Tensor, ...]:
    return torch.arange(count, device=like.device).split(_AT_ONCE)


def _bound(program: Program, x: Tensor, item: Tensor, labels: dict[str, Tensor], rows: Tensor) -> Tensor:
    items = x[item[rows]]
    q, p = program.candidate_traces(items, {name: values[rows] for name, values in labels.items()})
    return elbo(q, p, analytic=True).per_item  # (rows,)
