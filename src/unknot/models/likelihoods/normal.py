"""Real numbers."""

from __future__ import annotations

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import softplus

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.color_noise import ColorNormal
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.node_spec import NodeSpec


class NormalLikelihood(Likelihood):
    """Real numbers with one standard deviation: given, or learned; images in color may have another of color."""

    name = "normal"

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return not table

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        if spec.color_scale is not None and len(shape) != 3:
            raise SpecError(
                f"node '{spec.name}': color_scale is for images (C, H, W), but data is {tuple(shape)}"
            )
        self.raw_scale = nn.Parameter(torch.zeros(())) if spec.scale is None else None

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        scale = self.spec.scale if self.raw_scale is None else softplus(self.raw_scale) + 1e-2
        assert scale is not None
        if self.spec.color_scale is None:
            trace.normal(outputs, scale, value=x, name=name, event_dims=len(self.shape))
            return
        both = [torch.as_tensor(one, device=outputs.device) for one in (scale, self.spec.color_scale)]
        noise = ColorNormal(outputs, *both)
        trace.variable(noise, x, name=name, event_dims=len(self.shape))

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs
