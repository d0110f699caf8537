"""From a trace's variables to pairwise densities: every draw of the batch under every reference item.

The rows are the draws of this process's batch, ``(B,)``, ``(S, B)`` or ``(K, S, B)``. The columns are the
batch itself, gathered from all processes, followed by a reference batch if there is one.

**Evidence.** The columns are what the encoder says without it. Where items have evidence on a relaxed class, draw and
evidence are scored together under each column, as q and p score them (:mod:`unknot.core.potentials`).

**Labels.** A label of a relaxed variable has a mass and no density; a draw has a density. At a label's row
all columns are scored by the mass, at a draw's row all by the density: one marginal never mixes the two. The
label's marginal is therefore what the encoder says of it, the mean over items of q(y | x_c).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.distributions import Distribution, Independent, Normal

from unknot.core.distributions import without_autocast
from unknot.core.node import Variable
from unknot.core.relaxed import BinaryConcrete, Concrete, Relaxed
from unknot.errors import SpecError
from unknot.objectives.marginal import pairwise
from unknot.objectives.marginal.encoder_parents import own_leading
from unknot.objectives.marginal.gather import join_distributions
from unknot.objectives.marginal.log_mixture import group_mixtures
from unknot.objectives.marginal.pairwise import Pairs
from unknot.objectives.marginal.weights import Mixture

# log q of some groups of variables and of all of them together, where single dimensions do not matter.
# The correlation between groups needs log q(z_G) of each group and of their union alone.
# Then all pairs of a diagonal Normal are one matrix product.


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
    return normal_joint(node.value.reshape(-1, loc.shape[-1]), loc, scale).reshape(*rows, -1)


def normal_joint(value: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
    """Draws (R, D) under diagonal Normals (C, D), by one matrix product: (R, C).

    With r = 1 / σ,

        log q(z_b | x_c) = Σ_d [-z²_bd r²_cd / 2 + z_bd μ_cd r²_cd - μ²_cd r²_cd / 2 + log r_cd - log(2π) / 2],

    instead of B x C x D squares. They cancel where σ is small against z, so it is done in float64, which keeps log q to
    1e-6 up to |z| / σ of 1e5 (:mod:`unknot.objectives.marginal.normal_pairs` has no such limit).
    """
    with without_autocast(value):
        z, mean, precise = value.double(), loc.double(), scale.double().pow(-2)
        slope = mean * precise
        column = 0.5 * (precise.log() - mean * slope - math.log(2 * math.pi)).sum(-1)
        pairs = torch.cat([z * z, z], -1) @ torch.cat([-0.5 * precise, slope], -1).mT + column
    return pairs.to(value.dtype)


def variable_pairs(
    node: Variable, columns: Distribution, mixture: Mixture, parent: Tensor | None = None
) -> Pairs:
    """The draws of ``node`` under ``columns``: batch shape (C, dims...), or (K, C, dims...) with ``parent``."""
    if isinstance(columns, Concrete) and not _several(columns, parent):
        return pairwise.one_leaf(concrete_joint(node, columns, mixture, parent), mixture)
    if isinstance(columns, Relaxed) and node.scored_by == "density":
        pairs = _relaxed(node, columns, mixture, parent)
        if node.evidence is None:
            return pairs
        informed = node.evidence.informed.expand(node.leading_shape)[..., None]
        given = torch.where(informed, _joint_with_evidence(node, columns), pairs.joint)
        return pairwise.one_leaf(given, mixture)
    return pairwise.distribution_pairs(columns, node.value, mixture, parent)


def variable_joint(
    node: Variable, columns: Distribution, mixture: Mixture, parent: Tensor | None = None
) -> Tensor:
    """The matrix (*rows, C) of :func:`variable_pairs` alone, where leaves do not matter."""
    if isinstance(columns, Concrete) and not _several(columns, parent):
        return concrete_joint(node, columns, mixture, parent)
    if isinstance(columns, Relaxed):
        return variable_pairs(node, columns, mixture, parent).joint
    return pairwise.distribution_joint(columns, node.value, mixture, parent)


def _several(columns: Distribution, parent: Tensor | None) -> bool:
    """Whether there are several such variables for each item."""
    return len(columns.batch_shape) > (1 if parent is None else 2)


def concrete_joint(
    node: Variable, columns: Concrete, mixture: Mixture, parent: Tensor | None = None
) -> Tensor:
    """The draws and labels of a relaxed class under ``columns``: the matrix (*rows, C) alone."""
    if node.known is True or node.scored_by != "density":
        return pairwise.mass_joint(columns.scored_value(node.value), columns.logits, mixture, parent)
    assert node.unbounded is not None
    if node.known is False:
        return pairwise.concrete_joint(node.unbounded, columns.logits, columns.temperature, mixture, parent)
    rows = node.unbounded.shape[:-1]
    labels = pairwise.Labels(node.value.detach(), node.known.expand(rows))  # no gradient goes to a label
    unbounded = node.unbounded
    if node.evidence is not None:  # whose rows may have classes that are ruled out
        informed = node.evidence.informed.expand(rows)[..., None]
        unbounded = torch.where(informed, 0.0, unbounded)
    joint = pairwise.concrete_joint(unbounded, columns.logits, columns.temperature, mixture, parent, labels)
    return (
        joint if node.evidence is None else torch.where(informed, _joint_with_evidence(node, columns), joint)
    )


def _joint_with_evidence(node: Variable, columns: Relaxed) -> Tensor:
    """log q(u_b, e_b | x_c): the probability of the row's evidence under a column, times the density given it."""
    assert node.evidence is not None
    assert node.unbounded is not None
    family = Concrete if isinstance(columns, Concrete) else BinaryConcrete
    table = family(columns.logits.unsqueeze(1), columns.temperature)  # (C, 1, event...)
    given = node.evidence.condition(table)  # (C, B, event...)
    assert isinstance(given, Relaxed)
    unbounded = node.unbounded.unsqueeze(-2 - len(columns.event_shape))  # (*S, 1, B, event...)
    joint = given.log_density(unbounded) + node.evidence.log_mass(table)  # (*S, C, B)
    return joint.movedim(-2, -1)


def _relaxed(node: Variable, columns: Relaxed, mixture: Mixture, parent: Tensor | None) -> Pairs:
    """Several relaxed variables for each item, or one that is binary: a leaf each."""
    by_mass = pairwise.distribution_pairs(columns, node.value, mixture, parent)
    if node.known is True:
        return by_mass
    assert node.unbounded is not None
    density = type(columns).log_density
    by_density = pairwise.distribution_pairs(columns, node.unbounded, mixture, parent, density)  # type: ignore[arg-type]
    if node.known is False:
        return by_density
    known = node.known[..., None]
    assert by_mass.marginals is not None
    assert by_density.marginals is not None
    return Pairs(
        torch.where(known, by_mass.joint, by_density.joint),
        torch.where(known, by_mass.marginals, by_density.marginals),
    )


def item_distribution(node: Variable, items: int) -> Distribution:
    """The parameters of a variable without parents, one row per item: batch shape (B, dims...)."""
    refuse_inactive(node)
    dist, lead = node.plain, own_leading(node)
    dims = dist.batch_shape[len(lead) :]
    if lead == (items,):
        return dist
    if len(lead) <= 1:
        return dist.expand(torch.Size((items, *dims)))
    return join_distributions(
        [dist], lambda tensors: _first_of_extra(node.name, tensors[0], len(lead), items)
    )


def _first_of_extra(name: str, tensor: Tensor, lead: int, items: int) -> Tensor:
    """Drop axes before the batch along which nothing varies (they come from broadcasting alone)."""
    for axis in range(lead - 1):
        if tensor.shape[axis] > 1 and tensor.stride(axis) != 0:
            raise SpecError(
                f"site '{name}': its parameters have an axis of samples, so the encoder computed them from an "
                "earlier draw; state which with parents={...}, and see the encoder= argument of decompose"
            )
    return tensor[(0,) * (lead - 1)].expand(items, *tensor.shape[lead:])


def refuse_inactive(node: Variable) -> None:
    """A variable that exists for some items only has no marginal over all of them."""
    if node.active is not None:
        raise SpecError(
            f"site '{node.name}' stands in a `where` block: it does not exist for every item, so its marginal "
            "over items is not defined; decompose a model without such sites, or use elbo"
        )
