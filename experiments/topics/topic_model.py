"""TopicModel: ProdLDA, NVDM and mixtures of topics as programs, with one or several groups of topics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import softplus

from unknot.core.axes import cat
from unknot.core.evidence import GivenValues
from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.models.words.counts import word_log_likelihood
from unknot.models.words.topics import TopicDecoder, TopicTrunk, topic_head

_RATE, _DRAWS = 0.1, 2
_SMALLEST_SCALE = 1e-3  # keeps densities of overconfident encoders finite


class TopicModel(Program):
    """Documents from topics: z ~ Normal(0, 1), words ~ Multinomial(decoder(z)) (E19 sec. 5.2).

    Parameters
    ----------
    words : int
        The size V of the vocabulary.
    groups : mapping from str to int, default={"topics": 50}
        Name and size of every group of topics. :func:`~unknot.objectives.hfvae` weights the correlation between groups
        and that within them separately.
    mixing : {"product", "linear", "mixture"}
        ProdLDA, NVDM or a mixture; see :class:`TopicDecoder`.
    hidden, dropout, logarithm
        Options of the encoder, see :class:`TopicTrunk`.
    concentration, share_dropout, scale
        Options of the decoder, see :class:`TopicDecoder`.

    Examples
    --------
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
        logarithm: bool = True,
        share_dropout: float = 0.0,
        scale: bool = True,
    ) -> None:
        super().__init__()
        self.groups = dict(groups or {"topics": 50})
        topics = sum(self.groups.values())
        self.trunk = TopicTrunk(Size((words,)), hidden, dropout, logarithm=logarithm)
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
        """Run the encoder: q(z | x) of every group, from counts ``(B, V)``, dense or sparse."""
        q = Trace(samples=samples)
        features = self.trunk(x)
        for name in self.groups:
            loc, raw = self.heads[name](features).chunk(2, -1)
            q.normal(loc, softplus(raw) + _SMALLEST_SCALE, name=name, event_dims=1)
        return q

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """Run the decoder; without x, documents of a hundred words are sampled."""
        p = Trace()
        z = cat([self._prior(p, name, size, q[name]) for name, size in self.groups.items()])
        if x is None:
            p.multinomial(100, logits=self.decoder(z), name="x")
        else:
            p.loss(lambda topics, counts: -self.decoder.log_likelihood(topics, counts), z, x, name="x")
        return p

    def expected_data(self, q: Trace | GivenValues) -> Tensor:
        """Return probabilities of words ``(..., B, V)`` at the topics of ``q``."""
        p = Trace()
        z = cat([self._prior(p, name, size, q[name]) for name, size in self.groups.items()])
        return self.decoder(z).softmax(-1)

    def _prior(self, p: Trace, name: str, size: int, value: Any) -> Tensor:
        zeros = self.decoder.words.weight.new_zeros(size)
        return p.normal(zeros, zeros + 1, value=value, name=name)


@dataclass(frozen=True)
class Posterior:
    """Normal(loc, scale) of all topics of a batch, ``(B, K)``."""

    loc: Tensor
    scale: Tensor

    def draw(self) -> Tensor:
        return self.loc + self.scale * torch.randn_like(self.loc)


def posterior(model: TopicModel, x: Tensor, steps: int = 0) -> Posterior:
    """Return q(z | x) of documents ``(B, V)``, after ``steps`` of Adam on the bound of each document.

    These steps reduce the amortization gap, as the fold-in of LDA does; the model does not change.
    """
    with torch.no_grad(), validation(False):
        q = model.encode(x)
        parts = [q[name].dist for name in model.groups]
        loc, scale = torch.cat([d.loc for d in parts], -1), torch.cat([d.scale for d in parts], -1)
    if steps:
        loc, scale = _refined(model, x, loc, scale, steps)
    return Posterior(loc, scale)


def _refined(model: TopicModel, x: Tensor, loc: Tensor, scale: Tensor, steps: int) -> tuple[Tensor, Tensor]:
    loc, log_scale = loc.clone().requires_grad_(), scale.log().requires_grad_()
    optimizer = torch.optim.Adam([loc, log_scale])
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = _RATE * 0.5 * (1 + math.cos(math.pi * step / steps))
        noise = torch.randn(_DRAWS, *loc.shape)
        z = loc + log_scale.exp() * noise
        log_likelihood = word_log_likelihood(model.decoder(z), x).mean(0)
        divergence = 0.5 * (loc**2 + (2 * log_scale).exp() - 1).sum(-1) - log_scale.sum(-1)
        loss = (divergence - log_likelihood).sum()
        loc.grad, log_scale.grad = torch.autograd.grad(loss, [loc, log_scale])
        optimizer.step()
    return loc.detach(), log_scale.exp().detach()
