"""Pixels and shares, from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor
from torch.distributions import Bernoulli

from unknot.core.trace import Trace
from unknot.errors import DataError
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.node_spec import NodeSpec
from unknot.schema import Schema, whole


class MeanOfPixels(Bernoulli):
    """Means x of n pixels that share a probability: ``log p = n (x log π + (1 - x) log(1 - π))``.

    That is the log-likelihood of the n pixels, so an image averaged over blocks has the same weight relative to the KL
    divergence as the whole one.
    """

    def __init__(self, pixels: int, logits: Tensor) -> None:
        super().__init__(logits=logits, validate_args=False)
        self.pixels = pixels

    def log_prob(self, value: Tensor) -> Tensor:
        return self.pixels * super().log_prob(value)


class BernoulliLikelihood(Likelihood):
    """Pixels between 0 and 1; with ``pixels``, each number is the mean of that many pixels."""

    name = "bernoulli"
    OPTIONS: ClassVar[Mapping[str, Schema]] = {"pixels": whole(1, 10**6)}

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        if table:
            return False
        return x.dtype == torch.uint8 or (x.is_floating_point() and bool(((x >= 0) & (x <= 1)).all()))

    @classmethod
    def check_items(cls, spec: NodeSpec, x: Tensor) -> None:
        low, high = float(x.min()), float(x.max())
        if x.is_floating_point() and (low < 0 or high > 1):
            raise DataError(
                f"x holds {high if high > 1 else low:g}, but the model was fitted on values from 0 to 1; scale x as "
                "it was for fit."
            )

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        dims = len(self.shape)
        pixels = int(self.options.get("pixels", 1))
        if pixels == 1:
            trace.bernoulli(logits=outputs, value=x, name=name, gradient="score_function", event_dims=dims)
            return
        means = MeanOfPixels(pixels, outputs)
        trace.variable(means, x, name=name, gradient="score_function", event_dims=dims)

    def possible(self, x: Tensor) -> Tensor:
        return x.clamp(0, 1)

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs.sigmoid()

    def draw(self, outputs: Tensor) -> Tensor:
        """Return the means: the likelihood scores gray values, but its draws are black or white."""
        return self.mean(outputs)
