"""Unit vectors in space, such as where the light comes from."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize, softplus

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.agreement import Reading, first_draw
from unknot.models.direction import Direction
from unknot.models.families.family import SMALLEST_SCALE, Family, Settings
from unknot.models.node_spec import NodeSpec


class DirectionFamily(Family):
    """A unit vector in space. Networks see it by the spherical harmonics of orders one and two, standardized.

    What a matt surface shows of a light is all but linear in them (Basri & Jacobs 2003); the first three are the
    vector itself.
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

    def reading(self, dist: Any) -> Reading:
        concentration = first_draw(dist.concentration.detach(), 0)
        sure = 1 / concentration.tanh() - 1 / concentration  # the mean cosine of a draw's angle to the mean
        return Reading(first_draw(dist.mean_direction.detach(), 1), sure)

    def prior_outputs(self) -> Tensor:
        return torch.tensor([0.0, 0.0, 1.0, -20.0])  # concentration next to zero: every direction alike
