"""Bags of words from topics whose distributions are multiplied (ProdLDA)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from unknot.models.families.family import Family
from unknot.models.likelihoods.multinomial import MultinomialLikelihood
from unknot.models.networks import Trunk
from unknot.models.topic_networks import TopicDecoder, TopicTrunk, topic_head


class ProductTopicsLikelihood(MultinomialLikelihood):
    """Words from softmax(parents) times the topics' weights, with batch norm; see :class:`TopicDecoder`."""

    name = "product_topics"
    mixing = "product"

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return False  # taken only where it is named

    def trunk(self) -> Trunk:
        return TopicTrunk(self.shape, self.spec.recognition_hidden or (100, 100))

    def head(self, inputs: int, hidden: Sequence[int], outputs: int) -> nn.Module:
        if hidden:
            return super().head(inputs, hidden, outputs)
        return topic_head(inputs, outputs, self.spec.concentration)

    def decoder(self, inputs: int) -> nn.Module:
        concentration, sampled = self.spec.concentration, self.spec.sampled_words
        return TopicDecoder(inputs, self.shape[0], self.mixing, concentration, sampled=sampled)

    def decoder_of(self, parents: Sequence[Family]) -> nn.Module | None:
        return None
