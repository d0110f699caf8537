"""Unit vectors in space: the von Mises-Fisher distribution on the sphere, with pathwise draws.

For a direction, such as that of a light, the von Mises-Fisher density is the counterpart of a Gaussian with one width:
the log-likelihood of a label is κ cos(angle), so an encoder trained by it is trained on the angle itself, and at
κ -> 0 it is the uniform prior over directions.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints
from torch.nn.functional import normalize, softplus

from unknot.core.site_prediction import SitePrediction, first_draw
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.families.family import SMALLEST_SCALE, Family, Settings
from unknot.models.node_spec import NodeSpec


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


class DirectionFamily(Family):
    """A unit vector in space. Networks see its spherical harmonics of orders one and two, standardized.

    The brightness of a matt surface is nearly linear in those of the light (Basri & Jacobs 2003); the first three are
    the vector itself.
    """

    name = "direction"
    distributions = (Direction,)
    label_kind = "continuous"
    measure = "mean angle (degrees)"

    @classmethod
    def check_node(cls, spec: NodeSpec) -> None:
        super().check_node(spec)
        if spec.size != 3:
            raise SpecError(
                f"node '{spec.name}': a direction is a vector in space, of size 3, not {spec.size}"
            )

    @classmethod
    def settings(cls, size: int) -> Settings:
        """From the left, through straight ahead, to the right."""
        angles = torch.linspace(-75.0, 75.0, 7)
        turned = torch.deg2rad(angles)
        around = torch.stack([turned.sin(), torch.zeros_like(turned), turned.cos()], -1)  # (7, 3)
        return Settings(around, tuple(f"{angle:.0f}°" for angle in angles))

    @property
    def parameters_size(self) -> int:
        return 4

    @property
    def value_size(self) -> int:
        return 8

    def features(self, value: Tensor) -> Tensor:
        x, y, z = value.unbind(-1)
        second = [x * y, y * z, x * z, (x**2 - y**2) / 2, (3 * z**2 - 1) / (2 * 3**0.5)]
        # over all directions x² has mean 1/3 and (xy)² has 1/15
        return torch.cat([3**0.5 * value, 15**0.5 * torch.stack(second, -1)], -1)

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        mean = normalize(outputs[..., :3], dim=-1, eps=1e-6)
        concentration = softplus(outputs[..., 3]) + SMALLEST_SCALE
        return trace.variable(
            Direction(mean, concentration), value, name=self.spec.name, gradient=gradient, event_dims=1
        )

    def prediction(self, dist: Any) -> SitePrediction:
        concentration = first_draw(dist.concentration.detach(), 0)
        sure = 1 / concentration.tanh() - 1 / concentration  # the mean cosine of a draw's angle to the mean
        return SitePrediction(first_draw(dist.mean_direction.detach(), 1), sure)

    def prior_outputs(self) -> Tensor:
        return torch.tensor([0.0, 0.0, 1.0, -20.0])  # concentration next to zero: every direction alike


def _turned(vectors: Tensor, mean: Tensor) -> Tensor:
    """Reflect vectors so that the pole (0, 0, 1) goes to the mean direction (Householder)."""
    pole = torch.zeros_like(mean)
    pole[..., 2] = 1.0
    axis = normalize(pole - mean, dim=-1, eps=1e-8)
    return vectors - 2 * (vectors * axis).sum(-1, keepdim=True) * axis
