"""What each site of a pair of traces contributes to log p - log q, before any expectation is taken.

* a site of both traces contributes log p - log q where it was drawn and log p where it was observed: the
  proposal is made of the drawn sites only, so Σ_sites is log [p(x, y, z) / q(z | x, y)] for whatever y an item
  has observed;
* a site of p alone that is data (observed, a loss) is *reconstruction*; a factor of p is a term of its own;
* a site that p draws itself is its own proposal: its ratio is one, and it contributes nothing.

The values have leading axes ``(B,)``, ``(S, B)`` or ``(K, ..., S, B)``.
"""

from __future__ import annotations

from collections.abc import Container

import torch
from torch import Tensor

from unknot.core import validation
from unknot.core.check import check
from unknot.core.log_space import where_known, where_unknown
from unknot.core.node import Factor, Node, Variable
from unknot.core.trace import Trace


def check_pair(q: Trace, p: Trace) -> None:
    """Refuse traces that do not belong together: names always, values where validation is on."""
    unscored = any(node.name not in p for node in q.variables())
    if validation.is_on() or unscored or any(node.enumerated and not node.reused for node in p.variables()):
        check(q, p)


def data_and_factors(q: Trace, p: Trace) -> dict[str, Tensor]:
    """``reconstruction``, the log-probability of the data, and ``factor[name]`` for every factor of p."""
    names = [node.name for node in _factors(q, p)]
    return {"reconstruction": reconstruction(q, p, without=names), **factor_terms(q, p)}


def factor_terms(q: Trace, p: Trace) -> dict[str, Tensor]:
    """``factor[name]`` for every factor of p that is not a site of q."""
    return {f"factor[{node.name}]": node.log_prob for node in _factors(q, p)}


def _factors(q: Trace, p: Trace) -> list[Factor]:
    return [node for node in p.nodes() if isinstance(node, Factor) and node.name not in q]


def reconstruction(q: Trace, p: Trace, without: Container[str] = ()) -> Tensor:
    """Log-probability of the sites of p that q does not propose and p does not draw: data and factors."""
    total: Tensor | None = None
    for node in p.nodes():
        if node.name in q or node.known is False or node.name in without:
            continue
        log_prob = where_known(node.known, node.log_prob)
        total = log_prob if total is None else total + log_prob
    return torch.zeros(q.leading_shape[-1:]) if total is None else total


def log_ratio(q_node: Node, p: Trace) -> Tensor:
    """``log p - log q`` of one site of q where drawn, ``log p`` where observed. A factor of q is all log q."""
    if not isinstance(q_node, Variable):
        return -q_node.log_prob
    log_p = p[q_node.name].log_prob
    if q_node.known is True:
        return log_p
    return log_p - where_unknown(q_node.known, q_node.log_prob)


def proposals(q: Trace, p: Trace) -> list[Variable]:
    """The random variables in the order in which they were drawn or observed: q's, then those p drew itself."""
    return q.variables() + [
        node for node in p.variables() if node.gradient is not None and node.name not in q
    ]
