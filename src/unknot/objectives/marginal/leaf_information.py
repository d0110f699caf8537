"""How much each variable and each dimension tells of x, draw by draw: log q(z_d | x) - log q(z_d)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.objectives.marginal.inference_marginal import InferenceMarginal
from unknot.objectives.marginal.leaf_logs import own_logs
from unknot.objectives.marginal.marginal_tree import Marginal
from unknot.objectives.marginal.row_view import row_view
from unknot.objectives.parts.groups import as_groups, leaves


@dataclass(frozen=True)
class LeafInformation:
    """For one variable: ``joint`` (*rows) and ``dimensions`` (*rows, D), log q(· | x) - log q^(·)."""

    joint: Tensor
    dimensions: Tensor


def leaf_information(
    q: Trace, marginals: InferenceMarginal, names: Sequence[str] | None = None
) -> tuple[Marginal, dict[str, LeafInformation]]:
    """The tree of marginals and, for every variable or those of ``names``, what it tells of x.

    The mean over draws of ``dimensions`` estimates I(x; z_d) (E19 Fig. 4, right).
    """
    tree = marginals.tree(q, as_groups(None, [node.name for node in q.variables()]))
    found = leaves(tree)
    return tree, {name: _information(q[name], found[name]) for name in (names or found)}


def _information(node: Variable, leaf: Marginal) -> LeafInformation:
    dimensions = leaf.leaf_logs()
    if leaf.own is not None and leaf.own_dimensions is not None:
        return LeafInformation(leaf.own - leaf.log_q, leaf.own_dimensions - dimensions)
    node = row_view(node, leaf.log_q.shape)  # a draw that all items share, item by item
    joint = node.log_prob - leaf.log_q
    if dimensions.shape[-1] == 1:
        return LeafInformation(joint, joint[..., None])
    return LeafInformation(joint, own_logs(node, node.dist) - dimensions)
