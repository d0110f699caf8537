"""Real numbers, in the units of their labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.distributions import Normal
from torch.nn.functional import softplus

from unknot.core.site_prediction import SitePrediction, first_draw
from unknot.core.trace import Trace
from unknot.models.families.family import SMALLEST_SCALE, Family
from unknot.models.node_spec import NodeSpec
from unknot.schema import Schema, list_of, number


class NormalFamily(Family):
    """A vector of real numbers, in the units of its prior: networks see it standardized."""

    name = "normal"
    distributions = (Normal,)
    gaussian = True
    label_kind = "continuous"
    suits = ("continuous",)
    PRIOR: ClassVar[Mapping[str, Schema]] = {
        "center": list_of(number(), words="a list of numbers, one for each dimension"),
        "spread": list_of(number(above=0), words="a list of positive numbers, one for each dimension"),
    }
    center: Tensor
    spread: Tensor

    def __init__(self, spec: NodeSpec) -> None:
        super().__init__(spec)
        prior = spec.prior or {}
        self.standard = not prior
        center = torch.tensor(prior.get("center", [0.0] * self.size), dtype=torch.float32)
        spread = torch.tensor(prior.get("spread", [1.0] * self.size), dtype=torch.float32)
        self.register_buffer("center", center, persistent=False)  # the description keeps them
        self.register_buffer("spread", spread, persistent=False)

    @classmethod
    def describe(cls, labels: Tensor, classes: int | None) -> dict[str, Any]:
        """Return the units of the labels: their mean and their standard deviation."""
        described = super().describe(labels, classes)
        if len(labels) < 2:
            return described
        numbers = labels.reshape(len(labels), -1).double()
        spread = numbers.std(0, correction=0)
        spread = torch.where(spread > 0, spread, 1.0)
        return {**described, "prior": {"center": numbers.mean(0).tolist(), "spread": spread.tolist()}}

    @classmethod
    def from_standard(cls, spec: NodeSpec, standard: Tensor) -> Tensor:
        prior = spec.prior or {}
        if "spread" in prior:
            standard = standard * torch.tensor(prior["spread"])
        return standard + torch.tensor(prior["center"]) if "center" in prior else standard

    @property
    def parameters_size(self) -> int:
        return 2 * self.size

    def features(self, value: Tensor) -> Tensor:
        return value if self.standard else (value - self.center) / self.spread

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        loc, raw = outputs.chunk(2, -1)
        scale = softplus(raw) + SMALLEST_SCALE
        if not self.standard:
            loc, scale = self.center + self.spread * loc, self.spread * scale
        return trace.normal(loc, scale, value=value, name=self.spec.name, gradient=gradient, event_dims=1)

    def prediction(self, dist: Any) -> SitePrediction:
        loc = first_draw(dist.mean.detach(), 1)
        return SitePrediction(loc, torch.ones_like(loc[..., 0]))  # densities have no confidence

    def prior_outputs(self) -> Tensor:
        unit = math.log(math.expm1(1.0 - SMALLEST_SCALE))  # softplus(unit) + smallest = 1
        return torch.cat([torch.zeros(self.size), torch.full((self.size,), unit)])
