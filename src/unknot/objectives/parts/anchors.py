"""The information of anchor variables (AnchorVAE, Gao et al. 2018; E19 Table 1, (2)^a)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from unknot.core.numerics import where_unknown
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import Options, split_options
from unknot.objectives.marginal.leaf_information import leaf_information
from unknot.objectives.marginal.marginal_tree import Groups


def anchor_information(
    q: Trace, dataset_size: int, anchors: Sequence[str] | Mapping[str, Sequence[int]], options: Options
) -> Tensor:
    """log q(z_a | x) - log q(z_a) at every draw: of named variables jointly, or Σ over single dimensions.

    Zero for items that know one of the anchors: what is given needs no information.
    """
    marginals, _ = split_options(q, None, dataset_size, options)
    names = [anchors] if isinstance(anchors, str) else list(anchors)
    _check_names(names, [node.name for node in q.variables()])
    if isinstance(anchors, Mapping):
        _, found = leaf_information(q, marginals, names)
        parts = [found[name].dimensions[..., list(anchors[name])].sum(-1) for name in names]
        return _where_all_drawn(q, names, sum(parts[1:], start=parts[0]))
    rest = [node.name for node in q.variables() if node.name not in names]
    groups: Groups = {"anchors": names, "rest": rest} if rest else {"anchors": names}
    tree = marginals.tree(q, groups)
    own = [q[name].log_prob for name in names]
    return _where_all_drawn(q, names, sum(own[1:], start=own[0]) - tree.parts["anchors"].log_q)


def _where_all_drawn(q: Trace, names: Sequence[str], values: Tensor) -> Tensor:
    for name in names:
        values = where_unknown(q[name].known, values)
    return values


def _check_names(names: Sequence[str], variables: Sequence[str]) -> None:
    unknown = [name for name in names if name not in variables]
    if unknown or not names:
        raise SpecError(
            f"anchor_vae: expected names among the variables {', '.join(variables)}, got {unknown or 'none'}"
        )
