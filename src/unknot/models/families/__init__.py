"""Families of latent nodes, one a file. A new one is its file, a line here, and its test."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.distributions import Distribution

from unknot.models.families.bernoulli import BernoulliFamily
from unknot.models.families.categorical import CategoricalFamily
from unknot.models.families.concrete import ConcreteFamily
from unknot.models.families.direction import DirectionFamily
from unknot.models.families.family import Family, LabelKind, Settings
from unknot.models.families.normal import NormalFamily
from unknot.models.families.relaxed_bernoulli import RelaxedBernoulliFamily
from unknot.models.node_spec import NodeSpec

__all__ = [
    "FAMILIES",
    "Family",
    "LabelKind",
    "Settings",
    "family",
    "family_of",
    "family_with",
    "node_for_labels",
]

_ALL: tuple[type[Family], ...] = (
    NormalFamily,
    ConcreteFamily,
    CategoricalFamily,
    BernoulliFamily,
    RelaxedBernoulliFamily,
    DirectionFamily,
)
FAMILIES: dict[str, type[Family]] = {one.name: one for one in _ALL}


def family_of(spec: NodeSpec) -> type[Family]:
    """The family of a latent node, with all that is to be known of it: ``family_of(node).has_classes``."""
    return FAMILIES[spec.family]


def family_with(dist: Distribution) -> str | None:
    """The name of the family whose sites have such a distribution, or None if it is none of ours."""
    return next((one.name for one in _ALL if isinstance(dist, one.distributions)), None)


def family(spec: NodeSpec) -> Family:
    """The family object of a latent node: its part of the two programs."""
    return family_of(spec)(spec)


def node_for_labels(kind: str, labels: Tensor, classes: int | None = None) -> dict[str, Any]:
    """Family, size and units of the node that suits labels of a kind.

    ``labels`` are the known ones, ``(N,)`` or ``(N, D)``; ``classes`` is how many there are, where that is known.

    >>> import torch
    >>> node_for_labels("continuous", torch.tensor([1.0, 3.0]))
    {'family': 'normal', 'size': 1, 'center': [2.0], 'spread': [1.0]}
    >>> node_for_labels("count", torch.tensor([0, 2, 1]))
    {'family': 'concrete', 'size': 3}
    """
    suited = next(one for one in _ALL if kind in one.suits)
    return {"family": suited.name, **suited.describe(labels, classes)}
