"""What each site of a pair of traces contributes to log p - log q, before any expectation is taken.

* a site of both traces contributes log p - log q where it was drawn and log p where it was observed: the
  proposal is made of the drawn sites only, so Σ_sites is log [p(x, y, z) / q(z | x, y)] for whatever y an item
  has observed;
* a site of p alone that is data (observed, a loss) is *reconstruction*; a log-term of p is a term of its own;
* a site that p draws itself is its own proposal: its ratio is one, and it contributes nothing.

Values have leading axes ``(B,)``, ``(S, B)`` or ``(K, ..., S, B)``. As :class:`~unknot.core.expectation.Part` they say
which enumerated sites these axes belong to, and which draws they depend on.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import torch
from torch import Tensor

from unknot.core import validation
from unknot.core.expectation import Part, is_scored
from unknot.core.node import LogTerm, Node, Variable
from unknot.core.numerics import where_known, where_unknown
from unknot.core.trace import Trace
from unknot.core.tracing import upstream
from unknot.errors import SpecError
from unknot.objectives.check import check

Parts = dict[str, list[Part]]
RECONSTRUCTION, KL = "reconstruction", "kl"


def check_pair(q: Trace, p: Trace) -> None:
    """Refuse traces that do not belong together: names always, values where validation is on; and empty batches."""
    if q.leading_shape[-1:] == (0,):
        raise SpecError("the batch has no items, and a mean over none is no number; skip empty batches")
    unscored = any(node.name not in p for node in q.variables())
    if validation.is_on() or unscored or any(node.enumerated and not node.reused for node in p.variables()):
        check(q, p)


class SiteParts:
    """The parts of a pair of traces, which know the order of the program and, where it is known, its dependences.

    Parameters
    ----------
    q, p : Trace
        The two traces of a batch.
    """

    def __init__(self, q: Trace, p: Trace) -> None:
        self.q, self.p = q, p
        self.sites = proposals(q, p)
        self.is_scored = any(is_scored(node) for node in self.sites)
        self._reads = upstream(q, p) if self.is_scored else None
        self._added = _added(p) if self._reads is not None else frozenset()
        self._places = _places(q, p) if self.is_scored else {}

    def of_q(self, node: Node, value: Tensor) -> Part:
        """A value computed from the log-probability of a node of q."""
        return self._part(node, value, node.name, node.name)

    def of_label(self, node: Node, value: Tensor) -> Part:
        """The log-probability of a site of q at its labels: the site's own draws do not reach it."""
        reads = None if self._reads is None else self._reads[node.name]
        return Part(value, node.axes, f"site '{node.name}'", reads, self._places.get(node.name, 1 << 30))

    def of_p(self, node: Node, value: Tensor) -> Part:
        """A value computed from the log-probability of a node of p."""
        return self._part(node, value, f"p:{node.name}", f"p:{node.name}")

    def of_both(self, node: Node, value: Tensor) -> Part:
        """A value computed from both nodes of a site."""
        return Part(value, {**node.axes, **self.p[node.name].axes}, f"site '{node.name}'")

    def _part(self, node: Node, value: Tensor, key: str, place: str) -> Part:
        unknown = self._reads is None or (key == f"p:{node.name}" and node.name in self._added)
        reads = None
        if self._reads is not None and not unknown:  # what the value was drawn from decides on it as well
            reads = self._reads[key] | {node.name} | self._reads.get(node.name, frozenset())
        return Part(value, node.axes, f"site '{node.name}'", reads, self._places.get(place, 1 << 30))

    def data_and_log_terms(self) -> Parts:
        """``reconstruction``, the log-probability of the data, and ``log_term[name]`` for every log-term of p."""
        found: Parts = {"reconstruction": []}
        for node in self.p.nodes():
            if node.name in self.q or node.known is False:
                continue
            is_term = isinstance(node, LogTerm)
            name = f"log_term[{node.group or node.name}]" if is_term else "reconstruction"
            found.setdefault(name, []).append(self.of_p(node, _observed(node)))
        if not found["reconstruction"]:
            found["reconstruction"] = [Part(torch.zeros(self.q.leading_shape[-1:]), {}, "reconstruction")]
        return found

    def log_ratio(self, node: Node) -> list[Part]:
        """``log p - log q`` of one site of q where drawn, ``log p`` where observed. A log-term of q is all log q."""
        if not isinstance(node, Variable):
            return [self.of_q(node, -node.log_prob)]
        theirs = self.p[node.name]
        log_p = theirs.log_prob
        if node.known is True:
            return [self.of_p(theirs, log_p)]
        log_q = where_unknown(node.known, node.log_prob)
        if not self.is_scored and node.axes == theirs.axes:
            return [Part(log_p - log_q, node.axes, f"site '{node.name}'")]
        return [self.of_p(theirs, log_p), self.of_q(node, -log_q)]


def _added(p: Trace) -> frozenset[str]:
    """The nodes that were added to p after its program had run, by a regularizer: they may depend on any draw."""
    assert p.call is not None
    return frozenset(p) - frozenset(p.call.parents())


def weighted(parts: Mapping[str, list[Part]], weights: Mapping[str, float | Tensor]) -> list[Part]:
    """All parts in one list, each times the weight of its name."""
    return [one.times(weights.get(name, 1.0)) for name, values in parts.items() for one in values]


def log_terms(q: Trace, p: Trace) -> dict[str, Tensor]:
    """``log_term[name]`` for every log-term of p that is not a site of q."""
    found = [node for node in p.nodes() if isinstance(node, LogTerm) and node.name not in q]
    return {f"log_term[{node.name}]": node.log_prob for node in found}


def reconstruction(q: Trace, p: Trace, without: Container[str] = ()) -> Tensor:
    """Log-probability of the sites of p that q does not propose and p does not draw: data and log-terms."""
    total: Tensor | None = None
    for node in p.nodes():
        if node.name in q or node.known is False or node.name in without:
            continue
        log_prob = _observed(node)
        total = log_prob if total is None else total + log_prob
    return torch.zeros(q.leading_shape[-1:]) if total is None else total


def _observed(node: Node) -> Tensor:
    """Log-probability of what was observed at a site of p: values and, at a variable, evidence such as an interval."""
    return node.log_label() if isinstance(node, Variable) else where_known(node.known, node.log_prob)


def log_ratio(q_node: Node, p: Trace) -> Tensor:
    """``log p - log q`` of one site of q where drawn, ``log p`` where observed. A log-term of q is all log q."""
    if not isinstance(q_node, Variable):
        return -q_node.log_prob
    log_p: Tensor = p[q_node.name].log_prob
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


def elbo_parts(q: Trace, p: Trace) -> dict[str, Tensor]:
    """Return ``reconstruction``, (1)+(3), and ``kl``, (2)+(4) = log p(z) - log q(z | x), for every draw."""
    check_pair(q, p)
    first, *others = (log_ratio(node, p) for node in q.nodes())
    return {RECONSTRUCTION: reconstruction(q, p), KL: sum(others, start=first)}


def _places(q: Trace, p: Trace) -> dict[str, int]:
    """For every node the place, among :func:`proposals`, of the last draw that was made before it, or with it."""
    found: dict[str, int] = {}
    place = -1
    for node in q.nodes():
        place += isinstance(node, Variable)
        found[node.name] = place
    for node in p.nodes():
        place += isinstance(node, Variable) and node.gradient is not None and node.name not in q
        found[f"p:{node.name}"] = place
    return found
