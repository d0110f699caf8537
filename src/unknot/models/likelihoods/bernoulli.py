"""Pixels and shares, from 0 to 1."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.core.trace import Trace
from unknot.models.likelihoods.likelihood import Likelihood


class BernoulliLikelihood(Likelihood):
    """Pixels between 0 and 1."""

    name = "bernoulli"

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        if table:
            return False
        return x.dtype == torch.uint8 or (x.is_floating_point() and bool(((x >= 0) & (x <= 1)).all()))

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.bernoulli(
            logits=outputs, value=x, name=name, gradient="score_function", event_dims=len(self.shape)
        )

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs.sigmoid()

    def draw(self, outputs: Tensor) -> Tensor:
        """The shares themselves: the likelihood scores greys, but has no draws that are grey."""
        return self.mean(outputs)
