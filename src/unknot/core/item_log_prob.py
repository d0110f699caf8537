"""Log-probability per item: the sum over an item's axes, taken as early as possible.

``dist.log_prob(value)`` followed by a sum is right for every distribution. For the two families that fill a
training step, Gaussian codes and Bernoulli pixels, summing before the constants are applied saves
passes over the largest tensors; the results are the same. For one-hot classes torch scores the largest entry's class,
which is wrong for the vectors between the vertices that ``plug_in`` makes and has no gradient for ``straight_through``
ones: they are scored by :func:`~unknot.core.class_mass.class_mass`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Distribution, Normal, OneHotCategorical
from torch.nn.functional import binary_cross_entropy_with_logits

from unknot.core.axes import sum_event
from unknot.core.class_mass import class_mass

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def item_log_prob(dist: Distribution, value: Tensor, event_dims: int) -> Tensor:
    """``log p(value)`` with the trailing ``event_dims`` axes of the value (and no others) summed away."""
    if type(dist) is Normal:
        return _normal(dist, value, event_dims)
    if type(dist) is Bernoulli and "logits" in dist.__dict__:
        return _bernoulli(dist, value, event_dims)
    if isinstance(dist, OneHotCategorical):
        return sum_event(class_mass(value, dist.logits), event_dims - len(dist.event_shape))
    return sum_event(dist.log_prob(value), event_dims - len(dist.event_shape))


def _normal(dist: Normal, value: Tensor, event_dims: int) -> Tensor:
    """``-½ Σ_d ((z_d - μ_d) / σ_d)² - Σ_d log σ_d - (D/2) log 2π``."""
    standard = (value - dist.loc) / dist.scale
    quadratic = sum_event(standard * standard, event_dims)
    event = value.shape[value.ndim - event_dims :]
    log_scale = dist.scale.log()
    if log_scale.ndim == 0:
        log_volume = log_scale * event.numel()
    else:
        own = log_scale.shape[: max(0, log_scale.ndim - event_dims)] + event
        log_volume = sum_event(log_scale if log_scale.shape == own else log_scale.expand(own), event_dims)
    # the constant goes last: a scalar scale may be float32 where the values are float64
    return -0.5 * quadratic - log_volume - event.numel() * _HALF_LOG_TAU


def _bernoulli(dist: Bernoulli, value: Tensor, event_dims: int) -> Tensor:
    """``-Σ_d BCE(x_d, σ(l_d))``, from logits."""
    logits = dist.logits
    if logits.shape != value.shape:
        shape = torch.broadcast_shapes(logits.shape, value.shape)
        logits, value = logits.expand(shape), value.expand(shape)
    return -sum_event(binary_cross_entropy_with_logits(logits, value, reduction="none"), event_dims)
