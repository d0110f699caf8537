"""Checks between the two traces of a model: does p score what q proposes?"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import constraints

from unknot.core import validation
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import TraceError
from unknot.suggest import nearest


def check(q: Trace, p: Trace) -> None:
    """Refuse a pair of traces whose objective would be meaningless, naming the site and the remedy.

    ``q`` is the encoder's trace, ``p`` the decoder's. Returns nothing; raises a ``TraceError`` for names of q that p
    never scores, sites of p that were meant to reuse a draw of q but drew their own, shapes that do not line up,
    supports that do not fit, log-probabilities that are not finite.
    """
    for node in q.variables():
        if node.name not in p:
            near = nearest(node.name, [n for n in p if n not in q])
            hint = "." if near is None else f"; did you mean '{near}' in p?"
            raise TraceError(
                f"q proposes '{node.name}' but p never scores it{hint} Give p a site of that name with "
                f"value=q['{node.name}']."
            )
        _check_pair(node, p[node.name])
    for site in p.variables():
        if site.enumerated and not site.reused:
            raise TraceError(
                f"site '{site.name}': p enumerates it, but only q's sites are summed over; enumerate it in q and "
                f"pass value=q['{site.name}'] in p"
            )
    if validation.is_on():
        validation.check_finite([*q.nodes(), *p.nodes()])


def _check_pair(mine: Variable, theirs: object) -> None:
    name = mine.name
    if not isinstance(theirs, Variable):
        raise TraceError(f"site '{name}' is a random variable in q but a {type(theirs).__name__} in p")
    if theirs.value is not mine.value and not _equal(theirs.value, mine.value):
        raise TraceError(
            f"site '{name}': p scores another value than the one q proposed; pass value=q['{name}'] in p"
        )
    one, other = mine.dist.support, theirs.dist.support
    if _is_discrete(one) != _is_discrete(other):
        raise TraceError(
            f"site '{name}': q's {type(mine.dist).__name__} and p's {type(theirs.dist).__name__} have different "
            "supports, one discrete and one continuous; use the same family, or concrete at both"
        )
    _check_support(mine, theirs)
    if mine.scored_by == "density" and type(mine.dist) is not type(theirs.dist):
        raise TraceError(
            f"site '{name}': q scores its relaxed draw by the density of the unbounded variable, which "
            f"{type(theirs.dist).__name__} in p does not have; use {type(mine.dist).__name__} in both"
        )
    rescored = mine.scored_by != theirs.scored_by and not _all_known(mine)
    if rescored or mine.leading_dims != theirs.leading_dims:
        raise TraceError(
            f"site '{name}': p was given the bare value, which does not tell that it is relaxed or has samples; "
            f"pass the node, value=q['{name}'], in p"
        )
    if not _same_items(mine.active, theirs.active):
        raise TraceError(
            f"site '{name}' is switched off for other items in q than in p; use the same where() mask in both"
        )


def _check_support(mine: Variable, theirs: Variable) -> None:
    """Another family in p may not reach all values that q draws, and some densities say so by no infinity."""
    support = theirs.dist.support
    if type(mine.dist) is type(theirs.dist) or mine.gradient == "plug_in":
        return
    if support is None or constraints.is_dependent(support) or support.event_dim > 0:
        return
    outside = ~support.check(theirs.value)
    if bool(outside.any()):
        raise TraceError(
            f"site '{mine.name}': q's {type(mine.dist).__name__} draws {theirs.value[outside][0].item():.4g}, which is "
            f"outside the support of p's {type(theirs.dist).__name__}, {support}; use families with one support"
        )


def _equal(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)


def _same_items(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        mask = one if other is None else other
        return mask is None or bool(mask.all())
    return bool((one == other).all())


def _all_known(node: Variable) -> bool:
    return bool(node.known.all()) if isinstance(node.known, Tensor) else node.known


def _is_discrete(support: constraints.Constraint | None) -> bool:
    return bool(getattr(support, "is_discrete", False))
