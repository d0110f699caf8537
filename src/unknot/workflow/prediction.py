"""Prediction: class probabilities and means of a program's factors for a batch, without drawing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, OneHotCategorical

from unknot.core.handlers import modes
from unknot.core.node import Variable
from unknot.core.program import Program
from unknot.core.relaxed import BinaryConcrete, Concrete
from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.objectives.elbo import elbo

# ---- Candidates: of several candidate predictions for an item, the one with the largest ELBO -------------

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


@dataclass(frozen=True)
class Prediction:
    """What the encoder predicts for a batch.

    Attributes
    ----------
    predictions : dict from factor to Tensor
        Class probabilities ``(B, K)``, or means ``(B, D)``.
    values : dict from site to Tensor
        The mode of every site, as the decoder's sites take it; one-hot where draws are. Known inputs are among them.
    """

    predictions: dict[str, Tensor]
    values: dict[str, Tensor]


def joined(parts: Sequence[Prediction]) -> Prediction:
    """Join the predictions of several batches."""
    first = parts[0]
    return Prediction(
        {name: torch.cat([part.predictions[name] for part in parts]) for name in first.predictions},
        {name: torch.cat([part.values[name] for part in parts]) for name in first.values},
    )


def mode_trace(program: Program, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Trace:
    """Run the encoder with every site at its mode, given the modes of its parents.

    Parameters
    ----------
    program : Program
        The model.
    x : Tensor
        Items, ``(B, ...)``.
    known : mapping from factor to Tensor, optional
        Values that replace the predictions. Without them items with several candidate predictions have the best one
        (:mod:`unknot.workflow.prediction`).

    Returns
    -------
    Trace
    """
    with torch.no_grad(), modes():
        labels = known or best_candidates(program, x)
        return trace(program.encode, x, labels) if labels else trace(program.encode, x)


def predict(program: Program, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Prediction:
    """Predict all factors of some items.

    Parameters
    ----------
    program : Program
        The model. Its random variables are predicted under their own names, other factors by its method
        ``predictions``.
    x : Tensor
        Items, ``(B, ...)``.
    known : mapping from factor to Tensor, optional
        Values that replace the predictions.

    Returns
    -------
    Prediction
    """
    q = mode_trace(program, x, known)
    sites = {node.name: site_prediction(node) for node in q.variables()}
    values = {node.name: node.value for node in q.variables()}
    return Prediction({**sites, **program.predictions(q)}, {**q.inputs, **values})


def site_prediction(node: Variable) -> Tensor:
    """Return class probabilities ``(B, K)``, probabilities of yes ``(B, D)``, or means ``(B, D)`` of a site."""
    shape = (*node.leading_shape, *_item_shape(node))
    return _expectation(node.dist).expand(shape).reshape(node.leading_shape[-1], -1)


def _expectation(dist: Distribution) -> Tensor:
    if isinstance(dist, Concrete | OneHotCategorical | Categorical | Bernoulli | BinaryConcrete):
        return dist.probs
    return dist.mean


def _item_shape(node: Variable) -> torch.Size:
    """The shape of one item's prediction."""
    expectation = _expectation(node.dist)
    if isinstance(node.dist, Categorical):
        return expectation.shape[-1:]
    return expectation.shape[expectation.ndim - node.event_dims :]
