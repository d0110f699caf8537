"""Unit vectors in space: the von Mises-Fisher distribution on the sphere, with pathwise draws.

For a direction such as where the light comes from, the von Mises-Fisher density is the sphere's counterpart of a
Gaussian with one width: the log-likelihood of a label is κ cos(angle), so training an encoder by it is
training it on the angle itself, and at κ -> 0 it is the uniform prior over directions.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints
from torch.nn.functional import normalize


class Direction(Distribution):
    """Von Mises-Fisher on unit vectors of three dimensions: ``p(v) = C(κ) exp(κ μ·v)``.

    ``C(κ) = κ / (4π sinh κ)``; the height along μ has an inverse distribution function in closed form
    (Ulrich 1984), so draws are pathwise.

    >>> draws = Direction(torch.tensor([0.0, 0.0, 1.0]), torch.tensor(50.0)).rsample((100,))
    >>> bool((draws.norm(dim=-1) - 1).abs().max() < 1e-5)
    True
    """

    arg_constraints = {  # noqa: RUF012 (torch declares it so)
        "mean_direction": constraints.real_vector,
        "concentration": constraints.positive,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, mean_direction: Tensor, concentration: Tensor) -> None:
        batch = torch.broadcast_shapes(mean_direction.shape[:-1], concentration.shape)
        self.mean_direction = mean_direction.expand(*batch, 3)
        self.concentration = concentration.expand(batch)
        super().__init__(batch, torch.Size((3,)), validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Direction:
        mean = self.mean_direction.expand(*batch_shape, 3)
        return Direction(mean, self.concentration.expand(batch_shape))

    @property
    def mean(self) -> Tensor:
        return self.mean_direction

    def log_prob(self, value: Tensor) -> Tensor:
        kappa = self.concentration
        # log C(κ) = log κ - log 2π - κ - log(1 - e^{-2κ}), stable for small and large κ
        log_normalizer = kappa.log() - math.log(2 * math.pi) - kappa - torch.log(-torch.expm1(-2 * kappa))
        return kappa * (self.mean_direction * value).sum(-1) + log_normalizer

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = torch.Size(sample_shape) + self.batch_shape
        like = self.concentration
        uniform = torch.rand(shape, dtype=like.dtype, device=like.device).clamp_min(1e-12)
        # height w along the mean: the inverse of its distribution function
        height = 1 + torch.log(uniform + (1 - uniform) * torch.exp(-2 * like)) / like
        height = height.clamp(-1 + 1e-6, 1 - 1e-6)
        around = normalize(torch.randn(*shape, 2, dtype=like.dtype, device=like.device), dim=-1)
        rest = (1 - height**2).sqrt().unsqueeze(-1) * around
        return _turned(torch.cat([rest, height.unsqueeze(-1)], -1), self.mean_direction)


def _turned(vectors: Tensor, mean: Tensor) -> Tensor:
    """Reflect vectors so that the pole (0, 0, 1) goes to the mean direction (Householder)."""
    pole = torch.zeros_like(mean)
    pole[..., 2] = 1.0
    axis = normalize(pole - mean, dim=-1, eps=1e-8)
    return vectors - 2 * (vectors * axis).sum(-1, keepdim=True) * axis
