"""Bags of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from unknot.core.trace import Trace
from unknot.models.classed_words import ClassedLogits, ClassedWords
from unknot.models.families.family import Family
from unknot.models.likelihoods.poisson import PoissonLikelihood
from unknot.models.networks import VectorDecoder
from unknot.models.topic_networks import TopicLogits
from unknot.models.word_networks import word_log_likelihood

DRAWN_WORDS = 100  # in a document that is drawn
_LOGITS_IN_PARTS = (ClassedLogits, TopicLogits)
PRIOR_WORDS = 2000.0  # of the corpus, that a class is believed to have seen beside its own


class MultinomialLikelihood(PoissonLikelihood):
    """Bags of words: the words of a document given its length, from dense or sparse counts.

    A ``categorical`` parent has weights of its own for every word (:class:`ClassedWords`).
    """

    name = "multinomial"
    entrywise = False

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return not table and not x.is_floating_point() and x.ndim == 2 and bool((x >= 0).all())

    def decoder(self, inputs: int) -> nn.Module:
        return VectorDecoder(inputs, self.shape, self.spec.hidden)

    def decoder_of(self, parents: Sequence[Family]) -> nn.Module | None:
        classed = [one for one in parents if one.name == "categorical"]
        if not classed or len(self.shape) != 1:
            return None
        first, prior = classed[0], self.spec.prior_words
        others = {one.spec.name: one.value_size for one in parents if one is not first}
        return ClassedWords(
            first.spec.name,
            first.size,
            others,
            self.shape[0],
            self.spec.hidden,
            PRIOR_WORDS if prior is None else prior,
        )

    def site(self, trace: Trace, outputs: Any, x: Tensor | None, name: str) -> None:
        if x is None:
            trace.multinomial(DRAWN_WORDS, logits=_whole(outputs), name=name)
        elif isinstance(outputs, _LOGITS_IN_PARTS):
            trace.loss(lambda *_: -outputs.log_likelihood(x), outputs.shown, x, name=name)
        else:
            trace.loss(lambda logits, counts: -word_log_likelihood(logits, counts), outputs, x, name=name)

    def mean(self, outputs: Any) -> Tensor:
        return _whole(outputs).softmax(-1)


def _whole(outputs: Any) -> Tensor:
    return outputs.whole() if isinstance(outputs, _LOGITS_IN_PARTS) else outputs
