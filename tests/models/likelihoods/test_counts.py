"""Counts and bags of words: torch's own scores and means."""

from __future__ import annotations

import torch
from torch import Size
from torch.distributions import Multinomial, Poisson
from torch.nn.functional import softplus

import unknot
from unknot.models import GraphicalModel, node
from unknot.models.likelihoods.counts import MultinomialLikelihood, PoissonLikelihood


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
    nodes = [node("z", "normal", 3, inferred_from=["x"]), node("x", "multinomial", parents=["z"])]
    decoder = GraphicalModel(nodes, (6,)).generation["x"]
    assert sum(p.numel() for p in decoder.parameters()) == 3 * 6 + 6


def test_rates_have_torchs_own_scores_and_means() -> None:
    one = PoissonLikelihood(node("x", "poisson", parents=["z"]), Size((6,)), 16)
    outputs, counts = torch.randn(4, 6), torch.randint(0, 5, (4, 6)).float()
    p = unknot.Trace()
    one.site(p, outputs, counts, "x")
    dist = Poisson(softplus(outputs) + 1e-6)
    torch.testing.assert_close(p["x"].log_prob, dist.log_prob(counts).sum(-1))
    torch.testing.assert_close(one.mean(outputs), dist.mean, rtol=0, atol=1e-5)


def test_rates_are_taken_only_where_they_are_named() -> None:
    assert not PoissonLikelihood.suits(torch.tensor([[0, 7]]), table=False)
