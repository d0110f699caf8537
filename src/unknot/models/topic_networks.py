"""Networks of topic models: counts of words to topics, and topics to words in three ways."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import dropout

from unknot.errors import SpecError
from unknot.models.networks import LeadingAxes, Trunk
from unknot.models.word_networks import WordLayer

Mixing = Literal["product", "mixture", "linear"]
MIXINGS: tuple[str, ...] = get_args(Mixing)
_EVEN = 1e-10  # of every word's probability under a mixture, so that its logarithm is finite


class TopicTrunk(Trunk):
    """Counts of words through softplus layers (ProdLDA's recogniser), with dropout of words and of features.

    Arguments:
        shape: ``(V,)``, the number of words.
        hidden: sizes of the layers.
        dropout: share of the last features that a training step leaves out.
        word_dropout: share of the words present that a training step leaves out. The recogniser then learns to read
            parts of documents; the document that is explained stays whole, so that the bound stays a bound.
        logarithm: whether counts are seen as log(1 + count).
    """

    def __init__(
        self,
        shape: Size,
        hidden: Sequence[int] = (100, 100),
        dropout: float = 0.2,
        word_dropout: float = 0.0,
        logarithm: bool = True,
    ) -> None:
        super().__init__(hidden[-1])
        self.word_dropout, self.logarithm = word_dropout, logarithm
        self.words = WordLayer(shape.numel(), hidden[0])
        layers: list[nn.Module] = [nn.Softplus()]
        for one, two in pairwise(hidden):
            layers += [nn.Linear(one, two), nn.Softplus()]
        self.rest = nn.Sequential(*layers, nn.Dropout(dropout))

    def forward(self, x: Tensor) -> Tensor:
        counts = torch.log1p(x) if self.logarithm else x
        return self.rest(self.words(self._thinned(counts)))

    def _thinned(self, counts: Tensor) -> Tensor:
        if not self.training or not self.word_dropout:
            return counts
        if not counts.is_sparse:
            return dropout(counts, self.word_dropout)
        kept, indices = dropout(counts.values(), self.word_dropout), counts.indices()
        return torch.sparse_coo_tensor(indices, kept, counts.shape, is_coalesced=True, check_invariants=False)


def topic_head(inputs: int, outputs: int) -> nn.Module:
    """Parameters of topics from features, ``(B, H) -> (B, 2 K)``, each with mean 0 and spread 1 in a batch.

    The batch norm keeps topics from collapsing together at the start (Srivastava & Sutton 2017, sec. 3.4).
    """
    return LeadingAxes(nn.Sequential(nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs)), event_dims=1)


class TopicDecoder(nn.Module):
    """Topics ``z`` and classes ``y`` to the logits of words, ``(..., K + C) -> (..., V)``.

    * ``product`` (ProdLDA): batch norm of softmax(z) B. The topics' distributions are multiplied, not mixed;
    * ``mixture`` (LDA): log sum_k softmax(z)_k softmax(B_k), a weighted mean of distributions;
    * ``linear`` (NVDM): z B + b.

    A class adds to the logits of every word a number of its own. ``scale`` says whether the batch norm of a product
    learns a scale for every word; without it, as printed, the topics of a trained model are less diverse.
    """

    def __init__(
        self, topics: int, words: int, mixing: str, classes: int = 0, dropout: float = 0.0, scale: bool = True
    ) -> None:
        super().__init__()
        if mixing not in MIXINGS:
            raise SpecError(f"topics are mixed as {', '.join(MIXINGS)}, not {mixing!r}.")
        self.topics, self.mixing = topics, mixing
        self.weight = nn.Parameter(torch.empty(topics, words))
        nn.init.xavier_uniform_(self.weight)
        self.bias = nn.Parameter(torch.zeros(words)) if mixing != "product" else None
        self.classes = nn.Parameter(torch.zeros(classes, words)) if classes else None
        self.dropout = nn.Dropout(dropout)
        self.norm = LeadingAxes(nn.BatchNorm1d(words), event_dims=1) if mixing == "product" else None
        if self.norm is not None and not scale:
            self.norm.network.weight.requires_grad_(False)

    def topic_weights(self) -> Tensor:
        """The weight of every word in every topic, ``(K, V)``; the scale of a batch norm belongs to it."""
        weight = self.weight.detach()
        if self.norm is None:
            return weight
        norm = self.norm.network
        assert isinstance(norm, nn.BatchNorm1d)
        assert norm.running_var is not None
        return weight * norm.weight.detach() / (norm.running_var + norm.eps).sqrt()

    def forward(self, values: Tensor) -> Tensor:
        """Logits of words at values ``(..., K + C)``: topics first, then classes."""
        z, y = values[..., : self.topics], values[..., self.topics :]
        logits = self._mixed(z)
        return logits if self.classes is None else logits + y @ self.classes

    def _mixed(self, z: Tensor) -> Tensor:
        if self.mixing == "linear":
            assert self.bias is not None
            return z @ self.weight + self.bias
        shares = self.dropout(z.softmax(-1))  # (..., K)
        if self.norm is not None:
            return self.norm(shares @ self.weight)
        assert self.bias is not None
        words = (self.weight + self.bias).softmax(-1)  # (K, V)
        return torch.log(shares @ words + _EVEN)
