"""Exact marginals of a prior program whose sites depend on discrete ones only: a mixture written as two sites.

If all sites that a group G depends on, and that are not in it, have finitely many values, then

    p(z_G) = Σ_k p(k) Π_{i in G} p(z_i | parents among k and G)

over all their combinations k. Other sites integrate to one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from unknot.core import gradients
from unknot.core.node import Variable

MOST = 4096  # combinations; more than this are sampled instead


def combinations(sites: Sequence[Variable]) -> dict[str, Tensor] | None:
    """Every combination of the sites' values, (combinations, event...) for each; None if there are too many."""
    if not all(_is_listable(node) for node in sites):
        return None
    supports = [gradients.support(node.dist) for node in sites]
    count = 1
    for support in supports:
        count *= len(support)
    if count > MOST:
        return None
    rows = list(itertools.product(*(range(len(support)) for support in supports)))
    index = torch.tensor(rows, dtype=torch.long).reshape(count, len(sites))
    return {
        node.name: support[index[:, place].to(support.device)]
        for place, (node, support) in enumerate(zip(sites, supports, strict=True))
    }


def _is_listable(node: Variable) -> bool:
    """Finite, one variable per item, and a mass: a relaxed draw has a density and cannot be listed."""
    single = node.event_dims == len(node.dist.event_shape)
    return (
        gradients.is_finite(node.dist) and single and node.scored_by == "mass" and node.gradient != "plug_in"
    )
