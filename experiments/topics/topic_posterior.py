"""Posteriors of documents: as the encoder gives them, or refined by a few steps of inference of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from experiments.topics.topic_model import TopicModel
from unknot.core.validation import validation
from unknot.models.words.counts import word_log_likelihood

_RATE, _DRAWS = 0.1, 2


@dataclass(frozen=True)
class Posterior:
    """Normal(loc, scale) of all topics of a batch, ``(B, K)``."""

    loc: Tensor
    scale: Tensor

    def draw(self) -> Tensor:
        return self.loc + self.scale * torch.randn_like(self.loc)


def posterior(model: TopicModel, x: Tensor, steps: int = 0) -> Posterior:
    """q(z | x) of documents ``(B, V)``.

    An encoder shares its weights among all documents, and pays for it (the amortization gap). ``steps`` of Adam on
    each document's own bound take that price back, as LDA's fold-in does; the model does not change.
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
        told = word_log_likelihood(model.decoder(z), x).mean(0)
        divergence = 0.5 * (loc**2 + (2 * log_scale).exp() - 1).sum(-1) - log_scale.sum(-1)
        loss = (divergence - told).sum()
        loc.grad, log_scale.grad = torch.autograd.grad(loss, [loc, log_scale])
        optimizer.step()
    return loc.detach(), log_scale.exp().detach()
