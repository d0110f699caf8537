"""Which sites of the prior depend on other latent sites: from the program, or from what its trace shows.

In this order: what is **stated**; one run of the **program**, ``prior=``, under tags
(:mod:`unknot.core.dependence`); the **trace alone**. There, parameters without a batch axis
depend on nothing; parameters by item may come from other latent sites, with gradients as without, and are taken to.
Numbers never decide: a batch of one class has the same parameters for all items, and depends on the class.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from unknot.core import gradients
from unknot.core.dependence import site_parents, tensors_of
from unknot.core.evidence import GivenValues, given
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import Parents, own_leading

# Exact marginals of a prior program whose sites depend on discrete ones only: a mixture written as two sites.
# If all sites that a group G depends on, and that are not in it, have finitely many values, then
#
#     p(z_G) = Σ_k p(k) Π_{i in G} p(z_i | parents among k and G)
#
# over all their combinations k. Other sites integrate to one.

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


PriorProgram = Callable[[GivenValues], Trace]


def prior_parents(
    sites: Mapping[str, Variable], program: PriorProgram | None, stated: Parents | None
) -> dict[str, list[str]]:
    """For each of the ``sites`` of p, in the program's order, those others that its parameters come from, or may."""
    if stated is None and program is not None and not torch.compiler.is_compiling():
        stated = _of_program(program, sites)
    if stated is not None:
        return {name: [one for one in sites if one in stated.get(name, ())] for name in sites}
    names = list(sites)
    return {
        name: names[: names.index(name)] or names[1:] if _may_depend(node) else []
        for name, node in sites.items()
    }


def _of_program(program: PriorProgram, sites: Mapping[str, Variable]) -> Parents:
    """Read from a run at the batch's own values, one draw of each."""
    values = {name: _one_draw(node) for name, node in sites.items()}
    items = max((len(value) for name, value in values.items() if sites[name].leading_dims), default=1)
    values = {  # the values of an enumerated site are those of all items
        name: value.expand(items, *value.shape[1:]) if sites[name].enumerated else value
        for name, value in values.items()
    }
    found = site_parents(program, given(items, values))
    if missing := [name for name in sites if name not in found]:
        raise SpecError(
            f"prior=: the trace it returned has no site {missing}; it has {list(found)}. "
            "Pass prior=lambda given: decoder(None, given)"
        )
    return found


def _one_draw(node: Variable) -> Tensor:
    """(..., B, event...) -> (B, event...)."""
    return node.value.detach()[(0,) * max(0, node.leading_dims - 1)]


def _may_depend(node: Variable) -> bool:
    """Whether the site has parameters of its own for every item."""
    lead = own_leading(node)
    return any(_has_items(tensor, lead) for tensor in tensors_of(node.plain))


def _has_items(tensor: Tensor, lead: torch.Size) -> bool:
    """Whether a parameter has leading axes of its own: expanded ones (stride zero) are not."""
    if not lead or tensor.shape[: len(lead)] != lead:
        return False  # shared by all items
    return any(size > 1 and tensor.stride(axis) != 0 for axis, size in enumerate(lead))
