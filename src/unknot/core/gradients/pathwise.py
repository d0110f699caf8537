"""Pathwise gradients: z = g(ε, λ), so that d/dλ E f(z) = E f'(z) dg/dλ (S17 sec. 2.2)."""

from __future__ import annotations

from torch import Size, Tensor
from torch.distributions import Distribution, Normal

from unknot.core import noise


def sample(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """A reparametrised draw."""
    if type(dist) is Normal:
        epsilon = noise.fill(sample_shape + dist.loc.shape, event_dims, dist.loc, Tensor.normal_)
        return dist.loc + dist.scale * epsilon
    return noise.own_turn(lambda: dist.rsample(sample_shape))
