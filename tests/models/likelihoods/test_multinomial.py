"""Bags of words: torch's own scores, document by document."""

from __future__ import annotations

import torch
from torch import Size
from torch.distributions import Multinomial

import unknot
from unknot.models import node
from unknot.models.likelihoods.multinomial import MultinomialLikelihood


def test_scores_are_torchs_own_and_means_are_shares() -> None:
    one = MultinomialLikelihood(node("x", "multinomial", parents=["z"]), Size((6,)), 16)
    outputs, counts = torch.randn(4, 6), torch.randint(0, 5, (4, 6)).float()
    p = unknot.Trace()
    one.site(p, outputs, counts, "x")
    by_hand = torch.stack(
        [Multinomial(int(c.sum()), logits=o).log_prob(c) for o, c in zip(outputs, counts, strict=True)]
    )
    torch.testing.assert_close(p["x"].log_prob, by_hand)
    torch.testing.assert_close(one.mean(outputs).sum(-1), torch.ones(4))


def test_without_hidden_layers_the_words_are_linear_in_the_topics() -> None:
    one = MultinomialLikelihood(node("x", "multinomial", parents=["z"]), Size((6,)), 16)
    assert sum(p.numel() for p in one.decoder(3).parameters()) == 3 * 6 + 6
