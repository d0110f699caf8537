"""What each site of a pair of traces contributes to log p - log q, before any expectation is taken.

* a site of both traces contributes log p - log q where it was drawn and log p where it was observed: the
  proposal is made of the drawn sites only, so Σ_sites is log [p(x, y, z) / q(z | x, y)] for whatever y an item
  has observed;
* a site of p alone that is data (observed, a loss) is *reconstruction*; a log-term of p is a term of its own;
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
from unknot.core.node import LogTerm, Node, Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError


def check_pair(q: Trace, p: Trace) -> None:
    """Refuse traces that do not belong together: names always, values where validation is on; and empty batches."""
    if q.leading_shape[-1:] == (0,):
        raise SpecError("the batch has no items, and a mean over none is no number; skip empty batches")
    unscored = any(node.name not in p for node in q.variables())
    if validation.is_on() or unscored or any(node.enumerated and not node.reused for node in p.variables()):
        check(q, p)


def data_and_log_terms(q: Trace, p: Trace) -> dict[str, Tensor]:
    """``reconstruction``, the log-probability of the data, and ``log_term[name]`` for every log-term of p."""
    names = [node.name for node in _log_terms(q, p)]
    return {"reconstruction": reconstruction(q, p, without=names), **log_terms(q, p)}


def log_terms(q: Trace, p: Trace) -> dict[str, Tensor]:
    """``log_term[name]`` for every log-term of p that is not a site of q."""
    return {f"log_term[{node.name}]": node.log_prob for node in _log_terms(q, p)}


def _log_terms(q: Trace, p: Trace) -> list[LogTerm]:
    return [node for node in p.nodes() if isinstance(node, LogTerm) and node.name not in q]


def reconstruction(q: Trace, p: Trace, without: Container[str] = ()) -> Tensor:
    """Log-probability of the sites of p that q does not propose and p does not draw: data and log-terms."""
    total: Tensor | None = None
    for node in p.nodes():
        if node.name in q or node.known is False or node.name in without:
            continue
        log_prob = where_known(node.known, node.log_prob)
        total = log_prob if total is None else total + log_prob
    return torch.zeros(q.leading_shape[-1:]) if total is None else total


def log_ratio(q_node: Node, p: Trace) -> Tensor:
    """``log p - log q`` of one site of q where drawn, ``log p`` where observed. A log-term of q is all log q."""
    if not isinstance(q_node, Variable):
        return -q_node.log_prob
    log_p = p[q_node.name].log_prob
    if q_node.known is True:
        return log_p
    return log_p - where_unknown(q_node.known, q_node.log_prob)


def log_conditional(q: Trace) -> Tensor:
    """log q(z | x) of the drawn variables; labels are given, not proposed. Log-terms of q belong to it."""
    parts = [
        where_unknown(node.known, node.log_prob) if isinstance(node, Variable) else node.log_prob
        for node in q.nodes()
    ]
    return sum(parts[1:], start=parts[0])


def proposals(q: Trace, p: Trace) -> list[Variable]:
    """The random variables in the order in which they were drawn or observed: q's, then those p drew itself."""
    return q.variables() + [
        node for node in p.variables() if node.gradient is not None and node.name not in q
    ]
