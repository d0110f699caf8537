"""Bags of words."""

from __future__ import annotations

from torch import Tensor, nn

from unknot.core.trace import Trace
from unknot.models.likelihoods.poisson import PoissonLikelihood
from unknot.models.networks import VectorDecoder
from unknot.models.word_networks import word_log_likelihood

DRAWN_WORDS = 100  # in a document that is drawn


class MultinomialLikelihood(PoissonLikelihood):
    """Bags of words: the words of a document given its length, from dense or sparse counts."""

    name = "multinomial"

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return not table and not x.is_floating_point() and x.ndim == 2 and bool((x >= 0).all())

    def decoder(self, inputs: int) -> nn.Module:
        return VectorDecoder(inputs, self.shape, self.spec.hidden)

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        if x is None:
            trace.multinomial(DRAWN_WORDS, logits=outputs, value=x, name=name)
        else:
            trace.loss(lambda logits, counts: -word_log_likelihood(logits, counts), outputs, x, name=name)

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs.softmax(-1)
