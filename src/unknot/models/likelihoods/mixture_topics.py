"""Bags of words from topics whose distributions are mixed (LDA)."""

from __future__ import annotations

from unknot.models.likelihoods.product_topics import ProductTopicsLikelihood


class MixtureTopicsLikelihood(ProductTopicsLikelihood):
    """Words from a weighted mean of the topics' distributions, weights softmax(parents); see :class:`TopicDecoder`."""

    name = "mixture_topics"
    mixing = "mixture"
