"""Bags of words from topics, whose distributions are multiplied (ProdLDA) or mixed (LDA)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from torch import Tensor

from unknot.models.by_name import Named
from unknot.models.families.family import Family
from unknot.models.likelihoods.counts import MultinomialLikelihood
from unknot.models.networks.network import Trunk
from unknot.models.words.topics import TopicTrunk
from unknot.schema import Schema, number


class ProductTopicsLikelihood(MultinomialLikelihood):
    """Words from softmax(parents) times the topics' weights, with batch norm; see :class:`TopicDecoder`.

    ``concentration`` is that of a symmetric Dirichlet prior of the topics' shares, approximated by Laplace's method;
    by default shares are the softmax of standard normal numbers.
    """

    name = "product_topics"
    OPTIONS: ClassVar[Mapping[str, Schema]] = {"concentration": number(above=0)}
    mixing: ClassVar[str] = "product"

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return False  # taken only where it is named

    def vector_trunk(self, hidden: Sequence[int] | None) -> Trunk:
        return TopicTrunk(self.shape, hidden or (100, 100))

    def default_head(self) -> Named:
        return Named("topics")

    def default_decoder(self, parents: Sequence[Family]) -> Named:
        return Named("topics", {"mixing": self.mixing})


class MixtureTopicsLikelihood(ProductTopicsLikelihood):
    """Words from a weighted mean of the topics' distributions, weights softmax(parents); see :class:`TopicDecoder`."""

    name = "mixture_topics"
    mixing = "mixture"
