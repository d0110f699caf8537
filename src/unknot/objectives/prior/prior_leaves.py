"""log p of a variable's single dimensions, in closed form: the prior's share of E19's (ii)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import (
    Distribution,
    Independent,
    LowRankMultivariateNormal,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
)

from unknot.core.axes import per_item
from unknot.core.node import Variable
from unknot.core.relaxed import BinaryConcrete
from unknot.errors import SpecError


def prior_leaves(node: Variable, dimensions: int) -> Tensor:
    """log p(z_d) for each leaf of a variable of p, (*rows, D), where D leaves is what q has at this site.

    A multivariate normal has normal marginals with the variances on its diagonal; a mixture has mixtures of
    its components' marginals; independent dimensions are their own. A variable that is one leaf in q (one of
    K, a Dirichlet, a multivariate normal of q) is one leaf here: its joint.
    """
    if dimensions == 1:
        return node.log_prob[..., None]
    logs = _own_scores(node)
    rows = node.value.shape[: node.leading_dims]
    if logs is None or logs.shape[: len(rows)] != rows or logs[(0,) * len(rows)].numel() != dimensions:
        raise SpecError(
            f"site '{node.name}': q has {dimensions} single dimensions there, but no closed form is known for those of "
            f"p's {type(node.dist).__name__}; use independent dimensions, a multivariate normal, a mixture of normals, "
            "or write the prior as several sites and pass prior=lambda given: decoder(None, given)"
        )
    return logs.reshape(*rows, dimensions)


def _own_scores(node: Variable) -> Tensor | None:
    """log p(z_d) elementwise as the site itself is scored: a relaxed draw by the density of u, a label by its mass."""
    if node.scored_by != "density" or not isinstance(node.dist, BinaryConcrete) or node.known is True:
        return dimension_log_probs(node.dist, node.value)
    assert node.unbounded is not None
    density = node.dist.log_density(node.unbounded)
    if node.known is False:
        return density
    return torch.where(per_item(node.known, node.event_dims), node.dist.log_mass(node.value), density)


def dimension_log_probs(dist: Distribution, value: Tensor) -> Tensor | None:
    """log p(z_d) elementwise, in the shape of the value; None where no closed form is known."""
    if isinstance(dist, Independent):
        return dimension_log_probs(dist.base_dist, value)
    if isinstance(dist, MultivariateNormal | LowRankMultivariateNormal):
        return Normal(dist.loc, dist.variance.sqrt(), validate_args=False).log_prob(value)
    if isinstance(dist, MixtureSameFamily):
        # value (*rows, D) -> (*rows, 1, D) against components (..., K, D)
        logs = dimension_log_probs(dist.component_distribution, value.unsqueeze(-2))
        log_weights = dist.mixture_distribution.logits  # (..., K)
        return None if logs is None else torch.logsumexp(logs + log_weights[..., None], -2)
    if dist.event_shape:
        return None
    return dist.log_prob(value)
