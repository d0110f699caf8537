"""log q of every single dimension of a variable's draws, under the parameters of other items or of their own."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Distribution, Independent

from unknot.core.node import Variable
from unknot.core.relaxed import Relaxed
from unknot.errors import SpecError
from unknot.objectives.prior.prior_leaves import dimension_log_probs


def pair_logs(node: Variable, columns: Distribution, joint: Tensor) -> Tensor:
    """log q(z_bd | x_c), (*rows, C, D). ``joint`` is that of the whole variable, its only leaf if D = 1."""
    dist = _base(columns)
    if (isinstance(dist, Relaxed) and dist.event_shape) or not dist.batch_shape[1:]:
        return joint[..., None]
    return _elementwise(node, dist, node.leading_dims).reshape(*joint.shape, -1)


def own_logs(node: Variable, dist: Distribution) -> Tensor:
    """log q(z_bd | x_b), (*rows, D), from the items' own parameters, batch shape (..., B, dims...)."""
    return _elementwise(node, dist, None).reshape(*node.leading_shape, -1)


def _elementwise(node: Variable, dist: Distribution, axis: int | None) -> Tensor:
    """log q in the shape of the value, with ``axis`` of the value made new for the columns."""
    value = node.value if axis is None else node.value.unsqueeze(axis)
    if not isinstance(dist, Relaxed) or node.unbounded is None:
        logs = dimension_log_probs(dist, value)
        if logs is None:
            raise SpecError(
                f"site '{node.name}': no closed form for single dimensions of {type(dist).__name__}"
            )
        return logs
    # a relaxed binary vector: density of draws, mass of labels
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
