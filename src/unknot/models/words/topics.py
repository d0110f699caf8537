"""Networks of topic models: counts of words to topics, and topics to words in three ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, Literal, Self, get_args

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import dropout, softplus

from unknot.errors import SpecError
from unknot.models.networks.mlp import LeadingAxes
from unknot.models.networks.network import Decoder, Head, Place, Trunk
from unknot.models.words.counts import WordLayer, word_log_likelihood
from unknot.schema import Schema, choice

Mixing = Literal["product", "mixture", "linear"]
MIXINGS: tuple[str, ...] = get_args(Mixing)
_EVEN = 1e-10  # of every word's probability under a mixture, so that its logarithm is finite


class TopicTrunk(Trunk):
    """Counts of words through softplus layers (ProdLDA's encoder), with dropout of words and of features.

    Parameters
    ----------
    shape : torch.Size
        ``(V,)``, the number of words.
    hidden : sequence of int, default=(100, 100)
        Sizes of the layers.
    dropout : float, default=0.2
        Share of the last features that a training step leaves out.
    word_dropout : float, default=0.0
        Share of the words present that a training step leaves out. The encoder then sees parts of documents; the
        decoder scores the whole document, so the bound stays a bound.
    logarithm : bool, default=True
        Whether counts are seen as log(1 + count).
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


def topic_head(inputs: int, outputs: int, concentration: float | None = None) -> nn.Module:
    """Parameters of topics from features, ``(B, H) -> (B, 2 K)``, each with mean 0 and spread 1 in a batch.

    The batch norm keeps topics from collapsing together at the start (Srivastava & Sutton 2017, sec. 3.4). Under a
    Dirichlet prior that spread is one of the logits of shares, and not of the wider prior: see :class:`Narrowed`.
    """
    layers = [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs)]
    narrowed = [] if concentration is None else [Narrowed(concentration)]
    return LeadingAxes(nn.Sequential(*layers, *narrowed), event_dims=1)


class TopicHead(Head):
    """The encoder of topics, see :func:`topic_head`."""

    def __init__(self, place: Place, part: str = "") -> None:
        super().__init__(place, part)
        concentration = place.likelihood.options.get("concentration")
        self.network = topic_head(self.inputs, place.shape.numel(), concentration)

    @classmethod
    def build(cls, place: Place, part: str = "") -> Self:
        return cls(place, part)

    def forward(self, inputs: Mapping[str, Tensor], learn: bool = False) -> Tensor:
        outputs: Tensor = self.network(self.joined(inputs))
        return outputs


class Narrowed(nn.Module):
    """Means and widths ``(B, 2 K)`` in units of a prior that is alpha^-1/2 wide, from those in units of one.

    Widths come as w with softplus(w) the width, and leave so. Without this, shares are far from even at the start, and
    fewer topics stay in use.
    """

    def __init__(self, concentration: float) -> None:
        super().__init__()
        self.factor = concentration**0.5

    def forward(self, x: Tensor) -> Tensor:
        loc, raw = x.chunk(2, -1)
        width = softplus(raw) * self.factor
        return torch.cat([loc * self.factor, width + torch.log(-torch.expm1(-width))], -1)


class TopicDecoder(Decoder):
    """Topics ``z`` to the logits of words, ``(..., K) -> (..., V)``.

    * ``product`` (ProdLDA): batch norm of softmax(z) B. The topics' distributions are multiplied, not mixed;
    * ``mixture`` (LDA): log sum_k softmax(z)_k softmax(B_k), a weighted mean of distributions;
    * ``linear`` (NVDM): z B + b.

    Parameters
    ----------
    topics, words : int
        K and V.
    mixing : str
        How topics become words, see above.
    concentration : float, optional
        Concentration of a symmetric Dirichlet prior of the shares. With z standard normal, softmax(s z) is its Laplace
        approximation, s the :func:`laplace_spread`; by default s = 1. Linear topics have no shares.
    dropout : float, default=0.0
        Share of the topics that a training step leaves out of a product or a mixture.
    scale : bool, default=True
        Whether the batch norm of a product learns a scale for every word; without it, as printed, the topics of a
        trained model are less diverse.
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"mixing": choice(MIXINGS)}

    def __init__(
        self,
        topics: int,
        words: int,
        mixing: str,
        concentration: float | None = None,
        dropout: float = 0.0,
        scale: bool = True,
    ) -> None:
        super().__init__()
        if mixing not in MIXINGS:
            raise SpecError(f"topics are mixed as {', '.join(MIXINGS)}, not {mixing!r}.")
        if concentration is not None and mixing == "linear":
            raise SpecError("a Dirichlet prior is one of shares, and linear topics have none.")
        self.mixing = mixing
        self.spread = 1.0 if concentration is None else laplace_spread(concentration, topics)
        self.words = nn.Embedding(words, topics)  # B, a row for every word
        nn.init.xavier_uniform_(self.words.weight)
        self.bias = nn.Parameter(torch.zeros(words)) if mixing != "product" else None
        self.dropout = nn.Dropout(dropout)
        self.norm = WordNorm(words, scale) if mixing == "product" else None

    @classmethod
    def build(cls, place: Place, mixing: str = "product") -> Self:
        return cls(place.inputs, place.shape[0], mixing, place.likelihood.options.get("concentration"))

    def topic_weights(self) -> Tensor:
        """The weight of every word in every topic as logits see it, ``(K, V)``: that of a product times its norm's."""
        weight = self.words.weight.detach().T
        return weight if self.norm is None else weight * self.norm.factors()

    def log_likelihood(self, z: Tensor, x: Tensor) -> Tensor:
        """Return log p(x | z) of counts ``(B, V)``: ``(..., B)``."""
        return word_log_likelihood(self(z), x)

    def forward(self, z: Tensor) -> Tensor:
        """Return the logits of all words, ``(..., K) -> (..., V)``."""
        weight = self.words.weight
        if self.mixing == "linear":
            assert self.bias is not None
            return z @ weight.T + self.bias
        shares = self._shares(z)
        if self.norm is not None:
            return self.norm(shares @ weight.T)
        assert self.bias is not None
        words = (weight.T + self.bias).softmax(-1)  # (K, V)
        return torch.log(shares @ words + _EVEN)

    def _shares(self, z: Tensor) -> Tensor:
        """Shares of the topics, ``(..., K)``."""
        return self.dropout((self.spread * z).softmax(-1))


class WordNorm(nn.BatchNorm1d):
    """Batch norm of every word's logit ``(..., V)`` on any leading axes."""

    def __init__(self, words: int, scale: bool = True) -> None:
        super().__init__(words)
        self.weight.requires_grad_(scale)

    def factors(self) -> Tensor:
        """Return the factor of every word after training, ``(V,)``."""
        assert self.running_var is not None
        return self.weight.detach() / (self.running_var + self.eps).sqrt()

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.reshape(-1, x.shape[-1])).reshape(x.shape)


def laplace_spread(concentration: float, topics: int) -> float:
    """Standard deviation of the Laplace approximation of a symmetric Dirichlet in the basis of the softmax.

    sigma^2 = (1 - 1/K) / alpha for K topics of concentration alpha, with mean 0 (Srivastava & Sutton 2017, Eq. 3;
    MacKay 1998).
    """
    return float(((1 - 1 / topics) / concentration) ** 0.5)
