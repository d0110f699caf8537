"""From a trace's variables to pairwise densities: every draw of the batch under every reference item.

The rows are the draws of this process's batch, ``(B,)``, ``(S, B)`` or ``(K, S, B)``. The columns are the
batch itself, gathered from all processes, followed by a reference batch if there is one.

**Labels.** A label of a relaxed variable has a mass and no density; a draw has a density. At a label's row
all columns are scored by the mass, at a draw's row all by the density: one marginal never mixes the two. The
label's marginal is therefore what the encoder says of it, the mean over items of q(y | x_c).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core.node import Variable
from unknot.core.relaxed import Concrete, Relaxed
from unknot.errors import SpecError
from unknot.objectives.marginal import pairwise
from unknot.objectives.marginal.encoder_parents import own_leading
from unknot.objectives.marginal.join_distributions import join_distributions
from unknot.objectives.marginal.pairwise import Pairs
from unknot.objectives.marginal.weights import Mixture


def variable_pairs(
    node: Variable, columns: Distribution, mixture: Mixture, parent: Tensor | None = None
) -> Pairs:
    """The draws of ``node`` under ``columns``: batch shape (C, dims...), or (K, C, dims...) with ``parent``."""
    if isinstance(columns, Concrete) and not _several(columns, parent):
        return pairwise.one_leaf(concrete_joint(node, columns, mixture, parent), mixture)
    if isinstance(columns, Relaxed) and node.scored_by == "density":
        return _relaxed(node, columns, mixture, parent)
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
        return pairwise.mass_joint(node.value, columns.logits, mixture, parent)
    assert node.unbounded is not None
    if node.known is False:
        return pairwise.concrete_joint(node.unbounded, columns.logits, columns.temperature, mixture, parent)
    rows = node.unbounded.shape[:-1]
    labels = pairwise.Labels(node.value.detach(), node.known.expand(rows))  # no gradient goes to a label
    return pairwise.concrete_joint(
        node.unbounded, columns.logits, columns.temperature, mixture, parent, labels
    )


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
    dist, lead = node.dist, own_leading(node)
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
