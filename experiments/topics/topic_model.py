"""TopicModel: ProdLDA, NVDM and mixtures of topics as two Trace programs, in one or several groups of topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Size, Tensor, nn
from torch.nn.functional import softplus

from unknot.core.axes import cat
from unknot.core.evidence import GivenValues
from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.models.words.topics import TopicDecoder, TopicTrunk, topic_head

_SMALLEST_SCALE = 1e-3  # keeps densities of overconfident encoders finite


class TopicModel(Program):
    """Documents from topics: z ~ Normal(0, 1), words ~ Multinomial(decoder(z)) (E19 sec. 5.2).

    Arguments:
        words: V, the size of the vocabulary.
        groups: name and size of every group of topics: ``{"topics": 50}``, or two groups whose correlation
            :func:`~unknot.objectives.hfvae` prices apart from that within them, ``{"first": 25, "second": 25}``.
        mixing: "product" (ProdLDA), "linear" (NVDM) or "mixture"; see :class:`TopicDecoder`.
        hidden, dropout, word_dropout, logarithm: of the encoder, see :class:`TopicTrunk`.
        concentration, share_dropout, scale: of the decoder, see :class:`TopicDecoder`.

    >>> model = TopicModel(words=30, groups={"first": 3, "second": 2})
    >>> x = torch.randint(0, 3, (4, 30)).float()
    >>> q = model.encode(x)
    >>> list(model.decode(x, q)), model.decode(x, q).log_prob().shape
    (['first', 'second', 'x'], torch.Size([4]))
    """

    def __init__(
        self,
        words: int,
        groups: Mapping[str, int] | None = None,
        mixing: str = "product",
        *,
        concentration: float | None = None,
        hidden: Sequence[int] = (100, 100),
        dropout: float = 0.2,
        word_dropout: float = 0.0,
        logarithm: bool = True,
        share_dropout: float = 0.0,
        scale: bool = True,
    ) -> None:
        super().__init__()
        self.groups = dict(groups or {"topics": 50})
        topics = sum(self.groups.values())
        self.trunk = TopicTrunk(Size((words,)), hidden, dropout, word_dropout, logarithm)
        self.heads = nn.ModuleDict(
            {
                name: nn.Linear(hidden[-1], 2 * size)
                if mixing == "linear"
                else topic_head(hidden[-1], 2 * size, concentration)
                for name, size in self.groups.items()
            }
        )
        self.decoder = TopicDecoder(topics, words, mixing, concentration, share_dropout, scale)

    def encode(self, x: Tensor, labels: Any = None, samples: int | None = None) -> Trace:
        """The recognition program: q(z | x) of every group, from counts ``(B, V)``, dense or sparse."""
        q = Trace(samples=samples)
        features = self.trunk(x)
        for name in self.groups:
            loc, raw = self.heads[name](features).chunk(2, -1)
            q.normal(loc, softplus(raw) + _SMALLEST_SCALE, name=name, event_dims=1)
        return q

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """The generative program; without x, documents of a hundred words are drawn."""
        p = Trace()
        z = cat([self._prior(p, name, size, q[name]) for name, size in self.groups.items()])
        if x is None:
            p.multinomial(100, logits=self.decoder(z), name="x")
        else:
            p.loss(lambda topics, counts: -self.decoder.log_likelihood(topics, counts), z, x, name="x")
        return p

    def expected_data(self, q: Trace | GivenValues) -> Tensor:
        """Probabilities of words ``(..., B, V)`` at the topics of ``q``."""
        p = Trace()
        z = cat([self._prior(p, name, size, q[name]) for name, size in self.groups.items()])
        return self.decoder(z).softmax(-1)

    def _prior(self, p: Trace, name: str, size: int, value: Any) -> Tensor:
        zeros = self.decoder.words.weight.new_zeros(size)
        return p.normal(zeros, zeros + 1, value=value, name=name)
