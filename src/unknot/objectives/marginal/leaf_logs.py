"""Leaves of a variable, its single dimensions, and their log-densities under any item's parameters.

What the leaves are follows from the distribution of one item:

=============================================  ==================================================================
independent numbers                            one leaf for each: ``Normal``, ``Independent``, ``Bernoulli``, ...
``MultivariateNormal``, ``LowRank...``         one leaf for each dimension: Normal(loc_d, sqrt(covariance_dd))
``Dirichlet`` of K shares                      the first K - 1 shares, each Beta(c_k, Σ_j c_j - c_k)
``MixtureSameFamily`` of any of these          the leaves of its components, mixed
``TransformedDistribution``                    those of its base, if every transform maps each dimension alone
one of K: ``OneHotCategorical``, ``Concrete``  one leaf, the class
a vector of a single number                    one leaf, whatever the family
=============================================  ==================================================================

The last share of a Dirichlet is one minus the sum of the others, so that its density is one of K - 1 numbers. All K
shares together have no density, and an infinite total correlation.

Every other distribution over vectors (a flow that mixes dimensions, ``LogisticNormal``, ``Multinomial``, ``Wishart``)
has no closed form for its single dimensions. Such a variable has a joint density and no leaves: terms that need them
are refused.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import (
    Beta,
    ComposeTransform,
    Dirichlet,
    Distribution,
    Independent,
    IndependentTransform,
    LowRankMultivariateNormal,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
    OneHotCategorical,
    RelaxedOneHotCategorical,
    Transform,
    TransformedDistribution,
)
from torch.distributions.relaxed_categorical import ExpRelaxedCategorical

from unknot.core.node import Variable
from unknot.core.numerics import class_mass
from unknot.core.relaxed import Concrete, Relaxed
from unknot.errors import SpecError

ONE_OF_K = (OneHotCategorical, Concrete, RelaxedOneHotCategorical, ExpRelaxedCategorical)


def is_one_leaf(dist: Distribution) -> bool:
    """Whether one draw of ``dist``, without its batch axes, is a single leaf: a number, or one of K."""
    if dist.event_shape.numel() == 1:
        return True
    if isinstance(dist, MixtureSameFamily):
        return is_one_leaf(dist.component_distribution)
    return isinstance(dist, ONE_OF_K)


def log_prob(dist: Distribution, value: Tensor) -> Tensor:
    """log p of whole draws; of classes between the vertices, as sites are scored, by their mass Σ_k y_k log π_k."""
    return class_mass(value, dist.logits) if isinstance(dist, OneHotCategorical) else dist.log_prob(value)


def leaf_log_probs(dist: Distribution, value: Tensor) -> Tensor | None:
    """log p of every leaf of ``value``; None where no closed form is known.

    A value (*rows, event...) gives (*rows, leaves...) with as many axes, all of the event's size for independent
    dimensions. A class is one leaf, (*rows, 1).

    >>> covariance = torch.tensor([[4.0, 1.0], [1.0, 1.0]])
    >>> leaf_log_probs(MultivariateNormal(torch.zeros(2), covariance), torch.zeros(5, 2)).shape
    torch.Size([5, 2])
    """
    if isinstance(dist, Independent):
        return leaf_log_probs(dist.base_dist, value)
    if is_one_leaf(dist):
        return log_prob(dist, value)[(..., *(None,) * len(dist.event_shape))]
    if (normal := normal_leaves(dist)) is not None:
        return normal.log_prob(value)
    if isinstance(dist, Dirichlet):
        own = dist.concentration[..., :-1]
        rest = dist.concentration.sum(-1, keepdim=True) - own
        return Beta(own, rest, validate_args=False).log_prob(value[..., :-1])
    if isinstance(dist, MixtureSameFamily):
        return _mixture(dist, value)
    if isinstance(dist, TransformedDistribution):
        return _transformed(dist, value)
    return None


def normal_leaves(dist: Distribution) -> Normal | None:
    """The single dimensions of a multivariate normal; None for any other distribution."""
    if not isinstance(dist, MultivariateNormal | LowRankMultivariateNormal):
        return None
    return Normal(dist.loc, dist.variance.sqrt(), validate_args=False)


def _mixture(dist: MixtureSameFamily, value: Tensor) -> Tensor | None:
    """Mixtures of the components' leaves."""
    event = len(dist.event_shape)
    # (*rows, 1, event...) against components (..., K, event...)
    logs = leaf_log_probs(dist.component_distribution, value.unsqueeze(-event - 1))
    log_weights = dist.mixture_distribution.logits[(..., *(None,) * event)]  # (..., K, 1...)
    return None if logs is None else torch.logsumexp(logs + log_weights, -event - 1)


def _transformed(dist: TransformedDistribution, value: Tensor) -> Tensor | None:
    """The leaves of the base, if every transform maps each dimension by itself."""
    total, y = torch.zeros_like(value), value
    for transform in reversed(_flat(dist.transforms)):
        if transform.domain.event_dim or transform.codomain.event_dim:
            return None
        x = transform.inv(y)
        total = total - transform.log_abs_det_jacobian(x, y)
        y = x
    logs = leaf_log_probs(dist.base_dist, y)
    return None if logs is None or logs.shape[-1:] != value.shape[-1:] else logs + total


def _flat(transforms: list[Transform]) -> list[Transform]:
    """The transforms without what only declares them to be of one event."""
    found: list[Transform] = []
    for transform in transforms:
        if isinstance(transform, IndependentTransform):
            found += _flat([transform.base_transform])
        elif isinstance(transform, ComposeTransform):
            found += _flat(transform.parts)
        else:
            found.append(transform)
    return found


def refusal(site: str, dist: Distribution, whose: str) -> str:
    """Why terms that need single dimensions cannot be computed, and what to do."""
    while isinstance(dist, Independent):
        dist = dist.base_dist
    return (
        f"site '{site}': no closed form is known for single dimensions of {whose} {type(dist).__name__}, which "
        "`within`, `marginal` and total correlations need; use independent dimensions, a multivariate normal or a "
        "mixture of normals there, or semi_supervised with weights on `between` and `information` alone, which need "
        "none"
    )


def pair_logs(node: Variable, columns: Distribution, joint: Tensor) -> Tensor:
    """log q(z_bd | x_c), (*rows, C, D). ``joint`` is that of the whole variable, its only leaf if D = 1."""
    dist = _base(columns)
    if is_one_leaf(dist) and not dist.batch_shape[1:]:
        return joint[..., None]
    return _leaves(node, dist, node.leading_dims).reshape(*joint.shape, -1)


def own_logs(node: Variable, dist: Distribution) -> Tensor:
    """log q(z_bd | x_b), (*rows, D), from the items' own parameters, batch shape (..., B, dims...)."""
    return _leaves(node, dist, None).reshape(*node.leading_shape, -1)


def _leaves(node: Variable, dist: Distribution, axis: int | None) -> Tensor:
    """log q of every leaf of the value, with ``axis`` of the value made new for the columns."""
    value = node.value if axis is None else node.value.unsqueeze(axis)
    if not isinstance(dist, Relaxed) or node.unbounded is None:
        logs = leaf_log_probs(dist, value)
        if logs is None:
            raise SpecError(refusal(node.name, dist, "q's"))
        return logs
    # relaxed: density of draws, mass of labels
    if node.known is True:
        return dist.log_mass(value)
    logs = dist.log_density(node.unbounded if axis is None else node.unbounded.unsqueeze(axis))
    if node.known is False:
        return logs
    known = node.known.reshape(*node.known.shape, *(1,) * (logs.ndim - node.leading_dims))
    return torch.where(known, dist.log_mass(value), logs)


def _base(dist: Distribution) -> Distribution:
    while isinstance(dist, Independent):
        dist = dist.base_dist
    return dist
