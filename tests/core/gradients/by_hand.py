"""Draws with a known seed, and gradients derived by hand for them."""

from __future__ import annotations

import torch
from torch import Tensor

import unknot

B, K, TAU = 6, 4, 0.7
SLOPE = torch.tensor([1.0, -2.0, 0.5, 3.0])  # f(y) = a · y


def softmax_gradient(y: Tensor, slope: Tensor, temperature: float = 1.0) -> Tensor:
    """d(a · y)/d logits for y = softmax(logits / τ): y_j (a_j - a · y) / τ."""
    return y * (slope - (slope * y).sum(-1, keepdim=True)) / temperature


def drawn(family: str, gradient: str, **arguments: Tensor | float) -> tuple[unknot.Trace, Tensor, Tensor]:
    logits = torch.randn(B, K, requires_grad=True)
    q = unknot.Trace()
    torch.manual_seed(1)
    y = getattr(q, family)(logits=logits, name="y", gradient=gradient, **arguments)
    return q, logits, y


def gumbel() -> Tensor:
    torch.manual_seed(1)
    return -torch.empty(B, K).exponential_().log()
