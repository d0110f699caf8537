"""Pathwise gradients: z = g(ε, λ), so that d/dλ E f(z) = E f'(z) dg/dλ (S17 sec. 2.2)."""

from __future__ import annotations

from torch import Size, Tensor
from torch.distributions import Distribution


def sample(dist: Distribution, sample_shape: Size) -> Tensor:
    """A reparametrised draw."""
    return dist.rsample(sample_shape)
