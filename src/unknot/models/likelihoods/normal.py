"""Real numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import softplus

from unknot.core.trace import Trace
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.node_spec import NodeSpec
from unknot.schema import Schema, number


class NormalLikelihood(Likelihood):
    """Real numbers with one standard deviation: ``scale``, or learned."""

    name = "normal"
    OPTIONS: ClassVar[Mapping[str, Schema]] = {"scale": number(above=0)}

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        self.raw_scale = None if "scale" in self.options else nn.Parameter(torch.zeros(()))

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return not table

    @property
    def scale(self) -> Tensor | float:
        """The standard deviation."""
        if self.raw_scale is None:
            return float(self.options["scale"])
        return softplus(self.raw_scale) + 1e-2

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.normal(outputs, self.scale, value=x, name=name, event_dims=len(self.shape))

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs
