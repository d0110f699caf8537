"""log q of some groups of variables and of all of them together, where single dimensions do not matter.

The correlation between groups needs log q(z_G) of each group and of their union, and nothing of the dimensions inside.
Then all pairs of a diagonal Normal are one matrix product,

    log q(z_b | x_c) = Σ_d [-z²_bd r²_cd / 2 + z_bd μ_cd r²_cd - μ²_cd r²_cd / 2 + log r_cd - log(2π) / 2],  r = 1 / σ,

instead of B x C x D exponentials. The squares cancel where σ is small against z, so it is done in float64, which keeps
log q to 1e-6 up to |z| / σ of 1e5 (:mod:`unknot.objectives.marginal.normal_pairs` has no such limit).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.distributions import Distribution, Independent, Normal

from unknot.core.node import Variable
from unknot.core.relaxed import Concrete
from unknot.objectives.marginal.group_mixtures import group_mixtures
from unknot.objectives.marginal.pair_products import pair_products
from unknot.objectives.marginal.variable_pairs import concrete_joint, variable_pairs
from unknot.objectives.marginal.weights import Mixture


def joint_logs(
    joints: Mapping[str, Tensor], groups: Mapping[str, Sequence[str]], mixture: Mixture
) -> list[Tensor]:
    """log q^ of every group, then of all together, from the matrices (*rows, C) of the variables."""
    summed = []
    for names in groups.values():
        first, *others = (joints[name] for name in names)
        summed.append(sum(others, start=first))
    return group_mixtures(summed, mixture)


def joint_of(node: Variable, columns: Distribution, mixture: Mixture) -> Tensor:
    """log q(z_b | x_c) of a variable without parents: every draw under every item, (*rows, C)."""
    if isinstance(columns, Concrete) and node.scored_by == "density":
        return concrete_joint(node, columns, mixture)
    plain = columns
    while isinstance(plain, Independent):
        plain = plain.base_dist
    if not isinstance(plain, Normal):
        return variable_pairs(node, columns, mixture).joint
    rows = node.value.shape[: node.value.ndim - (plain.loc.ndim - 1)]
    table = (plain.loc.shape[0], -1)
    loc, scale = plain.loc.reshape(table), plain.scale.reshape(table)
    return normal_joint(node.value.reshape(*rows, -1), loc, scale, node.value.dtype)


def normal_joint(value: Tensor, loc: Tensor, scale: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """Draws (*rows, D) under diagonal Normals (C, D): (*rows, C), worked out in float64 and kept as ``dtype``."""
    z, mean, rate = value.flatten(0, -2).double(), loc.double(), scale.double().reciprocal()
    precise = rate * rate
    slope = mean * precise
    column = (rate.log() - 0.5 * mean * slope).sum(-1, keepdim=True) - 0.5 * loc.shape[-1] * math.log(
        2 * math.pi
    )
    powers = torch.cat([-0.5 * z * z, z, torch.ones_like(z[:, :1])], -1)  # (R, 2 D + 1)
    pairs = pair_products(powers, torch.cat([precise, slope, column], -1), dtype)
    return pairs.reshape(*value.shape[:-1], -1)
