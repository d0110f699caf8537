"""Doubly reparameterized gradients of log (1/S) Σ_s exp(r_s), r = log p - log q (Tucker et al. 2019).

The gradient with respect to the encoder's parameters φ has a part through the draws z(φ), weighted by
w̄_s = exp(r_s) / Σ exp(r), and a part through log q_φ(z) at fixed z: a score function. The latter,
reparametrized once more, turns w̄_s into w̄_s² on the part through the draws:

    ∇_φ = E Σ_s w̄_s² (∂r_s / ∂z_s) (∂z_s / ∂φ)

with q's parameters held constant inside r. The decoder's gradient keeps w̄_s.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution
from torch.distributions.transforms import Transform

from unknot.core.axes import per_item, sum_event
from unknot.core.distributions import with_tensors
from unknot.core.node import Variable
from unknot.core.numerics import where_unknown
from unknot.core.trace import Trace
from unknot.errors import SpecError

_FITTING = ("pathwise", "concrete", "enumerate")


def refuse_unfit(q: Trace) -> None:
    """Only pathwise draws can be reparametrized twice, and only where q's parameters hang on no other draw."""
    drawn = [node for node in q.variables() if node.known is not True]
    for node in drawn:
        if node.gradient not in _FITTING:
            raise SpecError(
                f"doubly_reparameterized=True: site '{node.name}' is drawn with gradient='{node.gradient}', but only "
                "pathwise and concrete draws can be reparametrized twice (enumerated sites are summed); change the "
                "site's gradient= or leave doubly_reparameterized off"
            )
    sources = [_source(node) for node in drawn if _carries_gradient(node)]
    for node in drawn:
        parameters = [t for t in _tensors(node.dist) if t.requires_grad]
        if sources and parameters and _depends(parameters, sources):
            raise SpecError(
                f"doubly_reparameterized=True: q's parameters of site '{node.name}' depend on another site's draw, and "
                "they cannot be held constant without losing that dependence; leave doubly_reparameterized off"
            )


def frozen_log_q(node: Variable) -> Tensor:
    """log q of the drawn items with q's parameters held constant, so that its gradient is that of the draw."""
    twin = node.replace(dist=with_tensors(node.dist, Tensor.detach))
    return where_unknown(node.known, twin.log_prob)


def surrogate(q: Trace, log_weight: Tensor) -> Tensor:
    """A term of value zero that turns the draws' weight w̄ into w̄² in the gradient, ``(B,)``.

    The gradient g of Σ w̄ r with respect to the draws is multiplied by w̄ already; (w̄ - 1) g is what is missing.
    """
    nodes = [node for node in q.variables() if node.known is not True and _carries_gradient(node)]
    total = torch.zeros_like(log_weight.detach()[(0,) * (log_weight.ndim - 1)])
    if not nodes:
        return total
    flat = log_weight.detach().reshape(-1, log_weight.shape[-1])
    share = flat.softmax(0).reshape(log_weight.shape)  # w̄ over all values and samples
    grads = torch.autograd.grad((share * log_weight).sum(), [_source(n) for n in nodes], retain_graph=True)
    for node, grad in zip(nodes, grads, strict=True):
        source = _source(node)
        own = share.sum_to_size(_match(share, source.shape[: node.leading_dims]))
        missing = grad * (per_item(own, node.event_dims) - 1)
        moved = sum_event((source - source.detach()) * missing, node.event_dims)
        total = total + moved.reshape(-1, moved.shape[-1]).sum(0)
    return total


def _source(node: Variable) -> Tensor:
    """The tensor through which the draw's gradient runs: u of a Concrete draw, else the value."""
    return node.value if node.unbounded is None else node.unbounded


def _carries_gradient(node: Variable) -> bool:
    return not node.enumerated and _source(node).requires_grad


def _match(share: Tensor, leading: torch.Size) -> torch.Size:
    """The leading shape of a site's draws, without the axes on which ``share`` is the same anyway."""
    own = torch.Size((1,) * max(0, share.ndim - len(leading))) + leading[-share.ndim :]
    return torch.Size(min(size, have) for size, have in zip(own, share.shape, strict=True))


def _depends(outputs: list[Tensor], inputs: list[Tensor]) -> bool:
    ones = [torch.ones_like(t) for t in outputs]
    grads = torch.autograd.grad(outputs, inputs, ones, retain_graph=True, allow_unused=True)
    return any(grad is not None for grad in grads)


def _tensors(owner: Any, seen: set[int] | None = None) -> list[Tensor]:
    """The parameter tensors of a distribution, those of the distributions and transforms it is made of included."""
    seen = {id(owner)} if seen is None else seen
    found: list[Tensor] = []
    for value in vars(owner).values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Tensor):
                found.append(part)
            elif isinstance(part, Distribution | Transform) and id(part) not in seen:
                seen.add(id(part))  # a transform and its inverse hold each other
                found += _tensors(part, seen)
    return found
