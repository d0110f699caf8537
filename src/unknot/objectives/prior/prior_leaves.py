"""log p of a variable's leaves, in closed form: the prior's share of E19's (ii)."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.core.axes import per_item
from unknot.core.node import Variable
from unknot.core.relaxed import Relaxed
from unknot.objectives.marginal.leaf_logs import leaf_log_probs


def prior_leaves(node: Variable, dimensions: int) -> Tensor | None:
    """log p(z_d) for each leaf of a variable of p, (*rows, D), where D leaves is what q has at this site.

    None if p has no closed form for them, or other leaves than q. What the leaves of a distribution are is in
    :mod:`unknot.objectives.marginal.leaf_logs`; a variable that is one leaf in q is one leaf here: its joint.
    """
    if dimensions == 1:
        return node.log_prob[..., None]
    logs = _own_scores(node)
    rows = node.value.shape[: node.leading_dims]
    if logs is None or logs.shape[: len(rows)] != rows or logs[(0,) * len(rows)].numel() != dimensions:
        return None
    return logs.reshape(*rows, dimensions)


def _own_scores(node: Variable) -> Tensor | None:
    """log p(z_d) elementwise as the site itself is scored: a relaxed draw by the density of u, a label by its mass."""
    if node.scored_by != "density" or not isinstance(node.dist, Relaxed) or node.known is True:
        return leaf_log_probs(node.dist, node.value)
    assert node.unbounded is not None
    density = node.dist.log_density(node.unbounded)
    if node.known is False:
        return density
    leaf_axes = node.event_dims - len(node.dist.event_shape)
    return torch.where(per_item(node.known, leaf_axes), node.dist.log_mass(node.value), density)
