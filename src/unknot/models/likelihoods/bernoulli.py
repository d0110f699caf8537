"""Pixels and shares, from 0 to 1."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Bernoulli

from unknot.core.trace import Trace
from unknot.models.likelihoods.likelihood import Likelihood


class MeanOfPixels(Bernoulli):
    """Means x of n pixels that share a probability: ``log p = n (x log π + (1 - x) log(1 - π))``.

    That is the log-likelihood of the n pixels themselves, so that an image averaged over blocks weighs as much beside
    the divergence from the prior as the whole one does.
    """

    def __init__(self, pixels: int, logits: Tensor) -> None:
        super().__init__(logits=logits, validate_args=False)
        self.pixels = pixels

    def log_prob(self, value: Tensor) -> Tensor:
        return self.pixels * super().log_prob(value)


class BernoulliLikelihood(Likelihood):
    """Pixels between 0 and 1, or means of several."""

    name = "bernoulli"

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        if table:
            return False
        return x.dtype == torch.uint8 or (x.is_floating_point() and bool(((x >= 0) & (x <= 1)).all()))

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        dims = len(self.shape)
        if self.spec.pixels == 1:
            trace.bernoulli(logits=outputs, value=x, name=name, gradient="score_function", event_dims=dims)
            return
        means = MeanOfPixels(self.spec.pixels, outputs)
        trace.variable(means, x, name=name, gradient="score_function", event_dims=dims)

    def possible(self, x: Tensor) -> Tensor:
        return x.clamp(0, 1)

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs.sigmoid()

    def draw(self, outputs: Tensor) -> Tensor:
        """The shares themselves: the likelihood scores greys, but has no draws that are gray."""
        return self.mean(outputs)
