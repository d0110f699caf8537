"""Families of latent nodes. A new one is its file, a line here, and its test; or a class of the user's, by name."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.distributions import Distribution

from unknot.models.by_name import find_class
from unknot.models.families.bernoulli import BernoulliFamily, RelaxedBernoulliFamily
from unknot.models.families.concrete import ArgmaxConcreteFamily, CategoricalFamily, ConcreteFamily
from unknot.models.families.direction import DirectionFamily
from unknot.models.families.family import Family, LabelKind, Settings
from unknot.models.families.normal import NormalFamily
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
    ArgmaxConcreteFamily,
    BernoulliFamily,
    RelaxedBernoulliFamily,
    DirectionFamily,
)
FAMILIES: dict[str, type[Family]] = {one.name: one for one in _ALL}


def family_of(spec: NodeSpec) -> type[Family]:
    """Return the family of a latent node: ``family_of(node).has_classes``."""
    return find_class(spec.family.name, FAMILIES, Family, f"node '{spec.name}': family")


def family_with(dist: Distribution) -> str | None:
    """Return the name of the family whose sites have such a distribution, or None if there is none."""
    return next((one.name for one in _ALL if isinstance(dist, one.distributions)), None)


def family(spec: NodeSpec) -> Family:
    """Return the family object of a latent node: its part of the two programs."""
    return family_of(spec)(spec)


def node_for_labels(kind: str, labels: Tensor, classes: int | None = None) -> dict[str, Any]:
    """Return family, size and prior of the node that suits labels of a kind.

    Parameters
    ----------
    kind : str
        The kind of the factor.
    labels : Tensor
        The known labels, ``(N,)`` or ``(N, D)``.
    classes : int, optional
        The number of classes, where it is known.

    Examples
    --------
    >>> import torch
    >>> node_for_labels("continuous", torch.tensor([1.0, 3.0]))
    {'family': 'normal', 'size': 1, 'prior': {'center': [2.0], 'spread': [1.0]}}
    >>> node_for_labels("count", torch.tensor([0, 2, 1]))
    {'family': 'concrete', 'size': 3}
    """
    suited = next(one for one in _ALL if kind in one.suits)
    return {"family": suited.name, **suited.describe(labels, classes)}
