"""Closed-form KL divergences between a site's two distributions, where torch knows them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution, OneHotCategorical, kl_divergence

from unknot.core.axes import sum_event
from unknot.core.node import Node, Variable
from unknot.core.numerics import class_mass
from unknot.core.relaxed import ArgmaxConcrete, BinaryConcrete, Concrete
from unknot.core.trace import Trace
from unknot.errors import SpecError

RELAXED_KL = ("density", "discrete")  # how the divergence of a relaxed draw is taken

# Sites whose expectation is exact already: enumeration sums log p - log q over the support, and the plug-in
# vector makes the difference of masses the divergence itself.
_EXACT = ("enumerate", "plug_in")


def negative_kl(q_node: Variable, q: Trace, p: Trace, relaxed: bool = False) -> Tensor | None:
    """``-KL(q || p)`` of a drawn site given its parents, over leading axes; None if it has no closed form here.

    It replaces the sampled log p - log q, with the same expectation. Items that observed the site keep log p.
    ``relaxed`` also takes relaxed draws, for which it is another quantity: the divergence of the discrete variables
    behind them.
    """
    p_node = p[q_node.name]
    if q_node.known is True or q_node.gradient in _EXACT:
        return None
    if q_node.mask is not None or q_node.shared_by is not None or q_node.scale is not None:
        return None
    if q_node.drawn is not q_node:  # whether it counts may depend on its own draw
        return None
    if q_node.scored_by == "density" and not relaxed:
        return None
    if isinstance(q_node.dist, ArgmaxConcrete):  # scored at the draw, whose gradient is another one
        return None
    if not _parents_come_first(q_node.name, q, p) and _leading_dims(p_node) > 0:
        return None
    one, other = _discrete(q_node.plain), _discrete(p_node.plain)
    try:
        divergence = kl_divergence(one, other)
    except NotImplementedError:
        return None
    extra = q_node.event_dims - len(one.event_shape)
    event = q_node.value.shape[q_node.value.ndim - extra :] if extra else torch.Size()
    wide = divergence.shape[: max(0, divergence.ndim - extra)] + event
    negative = -sum_event(divergence.expand(wide), extra)
    if p_node.active is not None:
        negative = torch.where(p_node.active, negative, 0.0)
    if q_node.evidence is not None:
        informed = q_node.evidence.informed
        negative = torch.where(informed, _with_evidence(q_node, p_node), negative)
    return negative if q_node.known is False else torch.where(q_node.known, p_node.log_prob, negative)


def _with_evidence(q_node: Variable, p_node: Variable) -> Tensor:
    """``E [log p(y) + log ψ(y) - log q(y | e)]`` under q(y | e) = q(y) ψ(y) / q(e), for items with evidence.

    For classes it is Σ_y q(y | e) [log p(y) - log q(y)] + log q(e), without the logarithms of classes that are ruled
    out; for numbers the sampled difference, which has the same expectation.
    """
    assert q_node.evidence is not None
    drawn, one, other = (_class_logits(dist) for dist in (q_node.dist, q_node.plain, p_node.plain))
    if drawn is None or one is None or other is None:
        return p_node.log_prob - q_node.log_prob
    probs = drawn.softmax(-1)
    difference = class_mass(probs, other) - class_mass(probs, one)
    negative = difference + q_node.evidence.log_mass(q_node.plain)
    return negative if p_node.active is None else torch.where(p_node.active, negative, 0.0)


def _class_logits(dist: Distribution) -> Tensor | None:
    """Logits ``(..., K)`` of a distribution over classes."""
    dist = _discrete(dist)
    if isinstance(dist, Bernoulli):
        return torch.stack([torch.zeros_like(dist.logits), dist.logits], -1)
    return dist.logits if isinstance(dist, Categorical | OneHotCategorical) else None


def _parents_come_first(name: str, q: Trace, p: Trace) -> bool:
    """Whether p's parents of a site are all drawn before it in q.

    Otherwise p's parameters may depend on the site's own draw (q: z, then y given z; p: y, then z given y), and
    the divergence at one draw is not the expectation. A program's order bounds what a site can depend on.
    """
    before = set()
    for node in q.variables():
        if node.name == name:
            break
        before.add(node.name)
    for node in p.variables():
        if node.name == name:
            return True
        if node.name in q and node.name not in before and node.known is not True:
            return False
    return True


def _leading_dims(node: Variable) -> int:
    """How many leading axes the parameters have; none means they cannot depend on a draw."""
    return len(node.plain.batch_shape) + len(node.plain.event_shape) - node.event_dims


def _discrete(dist: Distribution) -> Distribution:
    """The discrete variable behind a relaxed one: hard draws are scored by its mass."""
    if isinstance(dist, Concrete):
        return OneHotCategorical(logits=dist.logits, validate_args=False)
    if isinstance(dist, BinaryConcrete):
        return Bernoulli(logits=dist.logits, validate_args=False)
    return dist


def discrete_kl(q_node: Node, q: Trace, p: Trace, relaxed_kl: str) -> Tensor | None:
    """Minus the divergence of the classes behind a relaxed draw, where ``relaxed_kl`` asks for it; else None."""
    if relaxed_kl not in RELAXED_KL:
        raise SpecError(f"relaxed_kl is one of {', '.join(RELAXED_KL)}, but got {relaxed_kl!r}.")
    if relaxed_kl == "discrete" and isinstance(q_node, Variable) and q_node.scored_by == "density":
        return negative_kl(q_node, q, p, relaxed=True)
    return None
