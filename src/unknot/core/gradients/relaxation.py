"""Relaxed draws: soft (Concrete), or hard forward and soft backward (straight-through)."""

from __future__ import annotations

from torch import Size, Tensor
from torch.distributions import Bernoulli, Distribution, OneHotCategorical

from unknot.core import noise
from unknot.core.relaxed import Relaxed


def sample_soft(dist: Distribution, sample_shape: Size, event_dims: int) -> tuple[Tensor, Tensor]:
    """Soft value y and the unbounded u behind it."""
    assert isinstance(dist, Relaxed)
    unbounded = dist.sample_unbounded(sample_shape, event_dims)
    return dist.squash(unbounded), unbounded


def sample_straight_through(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """An exact discrete draw whose gradient is that of its soft stand-in.

    The stand-in is the relaxed draw at a relaxed site (Gumbel straight-through) and the probabilities at a
    plain discrete one. Biased, low variance; the hard value is scored by its mass.
    """
    if isinstance(dist, Relaxed):
        soft = dist.squash(dist.sample_unbounded(sample_shape, event_dims))
        hard = dist.harden(soft.detach())
    else:
        assert isinstance(dist, OneHotCategorical | Bernoulli)
        soft = dist.probs
        hard = noise.own_turn(lambda: dist.sample(sample_shape))
    return hard + (soft - soft.detach())
