"""Networks over counts of words, dense or sparse: of a sparse batch only the words present are looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Size, Tensor, nn

from unknot.models.networks.mlp import mlp
from unknot.models.networks.network import Trunk

LARGE_VOCABULARY = 10_000  # words from which a step's gradients hold only the words present


class WordLayer(nn.EmbeddingBag):
    """A linear layer over words, x W + b: of a sparse batch ``(B, V)`` it adds the rows of W of the words present.

    Of a large vocabulary the gradient is sparse too: neither it nor the optimizer's step looks at other rows.
    """

    def __init__(self, words: int, outputs: int) -> None:
        super().__init__(words, outputs, mode="sum", sparse=words >= LARGE_VOCABULARY)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.num_embeddings)  # as nn.Linear draws them
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        if not x.is_sparse:
            return x @ self.weight + self.bias
        documents, words = x.indices()
        starts = torch.searchsorted(documents, torch.arange(len(x), device=x.device))
        weights = x.values().to(self.weight.dtype)
        return super().forward(words, starts, per_sample_weights=weights) + self.bias


class CountTrunk(Trunk):
    """Counts: their logarithms, so that long documents do not drown short ones, through hidden layers."""

    def __init__(self, shape: Size, hidden: Sequence[int]) -> None:
        super().__init__(hidden[-1])
        self.event_dims = len(shape)
        self.words = WordLayer(math.prod(shape), hidden[0])
        self.rest = nn.Sequential(nn.ReLU(), mlp(hidden[0], hidden[1:-1], hidden[-1]), nn.ReLU())
        if len(hidden) == 1:
            self.rest = nn.Sequential(nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.rest(self.words(torch.log1p(x if x.is_sparse else x.flatten(-self.event_dims))))


def word_log_likelihood(logits: Tensor, x: Tensor) -> Tensor:
    """log Multinomial(x | softmax(logits)) of each document, with its coefficient: ``(..., B)``.

    log N! - sum_w log x_w! + sum_w x_w l_w - N log sum_v exp l_v, for N = sum_w x_w; of sparse x the first three are
    over the words present. Weighted counts need not be whole: log n! is then log of the gamma function at n + 1.

    Parameters
    ----------
    logits : Tensor
        ``(..., B, V)``.
    x : Tensor
        Counts ``(B, V)``, dense or sparse.
    """
    total = word_counts(x)
    return multinomial_coefficient(x, total) + chosen_logits(logits, x) - total * logits.logsumexp(-1)


def word_counts(x: Tensor) -> Tensor:
    """The number of words in each document, ``(B,)``."""
    if not x.is_sparse:
        return x.sum(-1)
    return x.values().new_zeros(len(x)).index_add(0, x.indices()[0], x.values())


def multinomial_coefficient(x: Tensor, total: Tensor) -> Tensor:
    """log of the number of texts with the same counts, ``(B,)``; ``total`` is the number of words in each."""
    if not x.is_sparse:
        return torch.lgamma(total + 1) - torch.lgamma(x + 1).sum(-1)
    return torch.lgamma(total + 1).index_add(0, x.indices()[0], -torch.lgamma(x.values() + 1))


def chosen_logits(logits: Tensor, x: Tensor) -> Tensor:
    """sum_w x_w l_w of logits ``(..., B, V)``: ``(..., B)``."""
    if not x.is_sparse:
        return (x * logits).sum(-1)
    documents, words = x.indices()
    present = logits.flatten(-2).index_select(-1, documents * x.shape[1] + words)  # (..., words present)
    zeros = logits.new_zeros(logits.shape[:-1])
    return zeros.index_add(-1, documents, present * x.values())


def words_of_classes(weights: Tensor, x: Tensor) -> Tensor:
    """x W^T for weights ``(C, V)``: ``(B, C)``."""
    return torch.sparse.mm(x, weights.T) if x.is_sparse else x @ weights.T
