"""Pixels from 0 to 1: torch's own scores and means."""

from __future__ import annotations

import torch
from torch import Size
from torch.distributions import Bernoulli

import unknot
from unknot.models import node
from unknot.models.likelihoods.bernoulli import BernoulliLikelihood


def test_scores_and_means_are_torchs_own() -> None:
    one = BernoulliLikelihood(node("x", "bernoulli", parents=["z"]), Size((6,)), 16)
    outputs, pixels = torch.randn(4, 6), torch.randint(0, 2, (4, 6)).float()
    p = unknot.Trace()
    one.site(p, outputs, pixels, "x")
    dist = Bernoulli(logits=outputs)
    torch.testing.assert_close(p["x"].log_prob, dist.log_prob(pixels).sum(-1))
    torch.testing.assert_close(one.mean(outputs), dist.mean)
