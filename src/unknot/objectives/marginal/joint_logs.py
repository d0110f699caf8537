"""log q of some groups of variables and of all of them together, where single dimensions do not matter.

The correlation between groups needs log q(z_G) of each group and of their union, and nothing of the dimensions inside.
Then all pairs of a diagonal Normal are one matrix product (:mod:`unknot.objectives.marginal.normal_joint`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor
from torch.distributions import Distribution, Independent, Normal

from unknot.core.node import Variable
from unknot.objectives.marginal.group_mixtures import group_mixtures
from unknot.objectives.marginal.normal_joint import normal_joint
from unknot.objectives.marginal.variable_pairs import variable_joint
from unknot.objectives.marginal.weights import Mixture


def joint_logs(
    joints: Mapping[str, Tensor], groups: Mapping[str, Sequence[str]], mixture: Mixture
) -> list[Tensor]:
    """log q^ of every group, then of all together, from the matrices (*rows, C) of the variables.

    Rows of variables and of groups may differ, and broadcast.
    """
    summed = []
    for names in groups.values():
        first, *others = (joints[name] for name in names)
        summed.append(sum(others, start=first))
    return group_mixtures(summed, mixture)


def joint_of(node: Variable, columns: Distribution, mixture: Mixture) -> Tensor:
    """log q(z_b | x_c) of a variable without parents: every draw under every item, (*rows, C)."""
    plain = columns
    while isinstance(plain, Independent):
        plain = plain.base_dist
    if not isinstance(plain, Normal):
        return variable_joint(node, columns, mixture)
    rows = node.value.shape[: node.value.ndim - (plain.loc.ndim - 1)]
    table = (plain.loc.shape[0], -1)
    loc, scale = plain.loc.reshape(table), plain.scale.reshape(table)
    pairs, *_ = normal_joint(node.value.reshape(-1, loc.shape[-1]), loc, scale, node.value.dtype)
    return pairs.reshape(*rows, -1)
