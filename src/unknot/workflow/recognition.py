"""Recognition: what any program's recogniser says of a batch, without drawing anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, OneHotCategorical

from unknot.core.best_values import best_values
from unknot.core.node import Variable
from unknot.core.relaxed import BinaryConcrete, Concrete
from unknot.core.trace import Trace
from unknot.workflow.readings import best_readings


@dataclass(frozen=True)
class Recognition:
    """A recogniser's answer for a batch: per variable what it reports, and the value that goes on."""

    summaries: dict[str, Tensor]  # class probabilities (B, K), or means (B, D)
    values: dict[
        str, Tensor
    ]  # the best class (one-hot where draws are), or means: what a decoder's sites take


def best_trace(program: Any, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Trace:
    """The recognition program run on ``x`` with every variable at the best value of its parents.

    ``known`` values (class indices or vectors) take the place of the recogniser's own. Without them, items that the
    program reads in several ways are read in the best (:mod:`unknot.workflow.readings`).
    """
    with torch.no_grad(), best_values():
        told = known or best_readings(program, x)
        q: Trace = program.encode(x, told) if told else program.encode(x)
    return q


def recognise(program: Any, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Recognition:
    """What a program's recogniser says of ``x``, ``(B, ...)``.

    Every random variable of the encoder's trace answers under its own name. A program whose labels go by other
    names, or are read off several sites, says so itself: ``summaries(q)`` returns them by the factor's name.
    """
    q = best_trace(program, x, known)
    said = program.summaries(q) if hasattr(program, "summaries") else {}
    own = {node.name: summary(node) for node in q.variables()}
    return Recognition({**own, **said}, {node.name: node.value for node in q.variables()})


def summary(node: Variable) -> Tensor:
    """Class probabilities ``(B, K)``, probabilities of yes ``(B, D)``, or means ``(B, D)`` of a site."""
    return _reported(node.dist).expand(*node.leading_shape, *_item(node)).reshape(node.leading_shape[-1], -1)


def _reported(dist: Distribution) -> Tensor:
    if isinstance(dist, Concrete | OneHotCategorical | Categorical | Bernoulli | BinaryConcrete):
        return dist.probs
    return dist.mean


def _item(node: Variable) -> torch.Size:
    """The shape of what is reported of one item."""
    reported = _reported(node.dist)
    if isinstance(node.dist, Categorical):
        return reported.shape[-1:]
    return reported.shape[reported.ndim - node.event_dims :]
