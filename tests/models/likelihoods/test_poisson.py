"""Counts: torch's own scores and means."""

from __future__ import annotations

import torch
from torch import Size
from torch.distributions import Poisson
from torch.nn.functional import softplus

import unknot
from unknot.models import node
from unknot.models.likelihoods.poisson import PoissonLikelihood


def test_scores_and_means_are_torchs_own() -> None:
    one = PoissonLikelihood(node("x", "poisson", parents=["z"]), Size((6,)), 16)
    outputs, counts = torch.randn(4, 6), torch.randint(0, 5, (4, 6)).float()
    p = unknot.Trace()
    one.site(p, outputs, counts, "x")
    dist = Poisson(softplus(outputs) + 1e-6)
    torch.testing.assert_close(p["x"].log_prob, dist.log_prob(counts).sum(-1))
    torch.testing.assert_close(one.mean(outputs), dist.mean, rtol=0, atol=1e-5)


def test_it_is_taken_only_where_it_is_named() -> None:
    assert not PoissonLikelihood.suits(torch.tensor([[0, 7]]), table=False)
