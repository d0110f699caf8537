"""The normalizer of a large vocabulary, from the words of a batch and a sample of the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.models.word_networks import multinomial_coefficient, word_counts


@dataclass(frozen=True)
class WordSample:
    """Words at which a step's logits are computed: all that a batch holds, and some that it does not.

    * ``columns``: the words, present ones first and rising, ``(C,)``;
    * ``places``: for every entry of the sparse batch, its word's place in ``columns``;
    * ``log_weights``: how many words each of them stands for, as a logarithm, ``(C,)``.
    """

    columns: Tensor
    places: Tensor
    log_weights: Tensor

    @classmethod
    def draw(cls, x: Tensor, count: int) -> WordSample:
        """The words of a sparse batch ``(B, V)``, and ``count`` of the others, uniformly and without repetition.

        Frequent words are in almost every batch, so that what is drawn is rare words, all much alike.
        """
        present, places = x.indices()[1].unique(return_inverse=True)
        absent = torch.ones(x.shape[1], dtype=torch.bool, device=x.device)
        absent[present] = False
        others = absent.nonzero()[:, 0]  # (V - P,)
        drawn = others[torch.randperm(len(others), device=x.device)[:count]]
        log_weights = torch.zeros(len(present) + len(drawn), device=x.device)
        log_weights[len(present) :] = math.log(len(others) / max(len(drawn), 1)) if len(others) else 0.0
        return cls(torch.cat([present, drawn]), places, log_weights)


def sampled_log_likelihood(logits_at: Callable[[Tensor], Tensor], x: Tensor, count: int) -> Tensor:
    """log Multinomial(x | softmax(logits)) of each document, with its normalizer estimated: ``(..., B)``.

    With P the words of the batch and S the ``count`` drawn of the V - |P| others,

        sum_v exp l_v  ~  sum_{v in P} exp l_v + (V - |P|) / |S| sum_{v in S} exp l_v.

    The sum is right on average; its logarithm is too low (Jensen), and the likelihood too high, by about half the
    sum's relative variance for every word of the document. ``python -m benchmarks large_vocabulary`` measures it.

    Arguments:
        logits_at: from words ``(C,)`` to the logits of these words, ``(..., B, C)``.
        x: counts ``(B, V)``, sparse.
        count: |S|; as many as there are words, or more, is exact.
    """
    sample = WordSample.draw(x, count)
    logits = logits_at(sample.columns)
    total = word_counts(x)
    documents = x.indices()[0]
    chosen = logits.flatten(-2).index_select(-1, documents * logits.shape[-1] + sample.places)
    told = logits.new_zeros(logits.shape[:-1]).index_add(-1, documents, chosen * x.values())
    normalizer = (logits + sample.log_weights).logsumexp(-1)
    return multinomial_coefficient(x, total) + told - total * normalizer
