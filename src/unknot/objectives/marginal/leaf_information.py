"""How much each variable and each dimension tells of x, draw by draw: log q(z_d | x) - log q(z_d)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.inference_marginal import InferenceMarginal
from unknot.objectives.marginal.marginal_tree import Marginal
from unknot.objectives.parts.groups import as_groups, leaves
from unknot.objectives.prior.prior_leaves import dimension_log_probs


@dataclass(frozen=True)
class LeafInformation:
    """For one variable: ``joint`` (*rows) and ``dimensions`` (*rows, D), log q(· | x) - log q^(·)."""

    joint: Tensor
    dimensions: Tensor


def leaf_information(q: Trace, marginals: InferenceMarginal) -> tuple[Marginal, dict[str, LeafInformation]]:
    """The tree of marginals and, for every variable, what it tells of x.

    The mean over draws of ``dimensions`` estimates I(x; z_d) (E19 Fig. 4, right).
    """
    tree = marginals.tree(q, as_groups(None, [node.name for node in q.variables()]))
    return tree, {name: _information(q[name], leaf) for name, leaf in leaves(tree).items()}


def _information(node: Variable, leaf: Marginal) -> LeafInformation:
    assert leaf.dimensions is not None
    size = leaf.dimensions.shape[-1]
    joint = node.log_prob - leaf.log_q
    if size == 1:
        return LeafInformation(joint, joint[..., None])
    return LeafInformation(joint, _own_dimensions(node, size) - leaf.dimensions)


def _own_dimensions(node: Variable, size: int) -> Tensor:
    """log q(z_d | x) of the item itself, (*rows, D)."""
    rows = node.value.shape[: node.leading_dims]
    if node.unbounded is not None:  # a relaxed binary vector: density of draws, mass of labels
        logs = node.dist.log_density(node.unbounded)  # type: ignore[attr-defined]
        if node.known is not False:
            known = torch.as_tensor(node.known)[..., None] if isinstance(node.known, Tensor) else True
            logs = torch.where(torch.as_tensor(known), node.dist.log_prob(node.value), logs)
    else:
        logs = dimension_log_probs(node.dist, node.value)
    if logs is None:
        raise SpecError(
            f"site '{node.name}': no closed form for single dimensions of {type(node.dist).__name__}"
        )
    return logs.reshape(*rows, size)
