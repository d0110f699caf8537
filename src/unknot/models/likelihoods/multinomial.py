"""Bags of words."""

from __future__ import annotations

from torch import Tensor, nn

from unknot.core.trace import Trace
from unknot.models.likelihoods.poisson import PoissonLikelihood
from unknot.models.networks import VectorDecoder


class MultinomialLikelihood(PoissonLikelihood):
    """Bags of words: the words of a document given its length."""

    name = "multinomial"

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return not table and not x.is_floating_point() and x.ndim == 2 and bool((x >= 0).all())

    def decoder(self, inputs: int) -> nn.Module:
        return VectorDecoder(inputs, self.shape, self.spec.hidden)

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.multinomial(100, logits=outputs, value=x, name=name)

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs.softmax(-1)
