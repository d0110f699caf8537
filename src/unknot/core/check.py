"""Checks between the two traces of a model: does p score what q proposes?"""

from __future__ import annotations

import difflib

import torch
from torch.distributions import constraints

from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import TraceError


def check(q: Trace, p: Trace) -> None:
    """Refuse a pair of traces whose objective would be meaningless, naming the site and the remedy.

    Names of q that p never scores, sites of p that were meant to reuse a draw of q but drew their own, shapes
    that do not line up, supports that do not fit, log-probabilities that are not finite.
    """
    for node in q.variables():
        if node.name not in p:
            near = difflib.get_close_matches(node.name, [n for n in p if n not in q], n=1)
            hint = f"; did you mean '{near[0]}' in p?" if near else ""
            raise TraceError(
                f"q proposes '{node.name}' but p never scores it{hint} Give p a site of that name with "
                f"value=q['{node.name}']."
            )
        _check_pair(node, p[node.name])
    for site in [*p.nodes(), *q.nodes()]:
        _ = site.log_prob  # reading it checks it


def _check_pair(mine: Variable, theirs: object) -> None:
    name = mine.name
    if not isinstance(theirs, Variable):
        raise TraceError(f"site '{name}' is a random variable in q but a {type(theirs).__name__} in p")
    if theirs.value is not mine.value and not torch.equal(theirs.value, mine.value):
        raise TraceError(
            f"site '{name}': p scores another value than the one q proposed; pass value=q['{name}'] in p"
        )
    one, other = mine.dist.support, theirs.dist.support
    if _is_discrete(one) != _is_discrete(other):
        raise TraceError(
            f"site '{name}': q's {type(mine.dist).__name__} and p's {type(theirs.dist).__name__} have different "
            "supports, one discrete and one continuous; use the same family, or concrete at both"
        )


def _is_discrete(support: constraints.Constraint | None) -> bool:
    return bool(getattr(support, "is_discrete", False))
