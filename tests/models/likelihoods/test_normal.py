"""Real numbers: torch's own scores, with a given or a learned scale."""

from __future__ import annotations

import torch
from torch import Size
from torch.distributions import Normal

import unknot
from unknot.models import node
from unknot.models.likelihoods.normal import NormalLikelihood


def make(**settings) -> NormalLikelihood:
    return NormalLikelihood(node("x", {"name": "normal", **settings}, parents=["z"]), Size((6,)), 16)


def test_scores_and_means_are_torchs_own() -> None:
    outputs, x = torch.randn(4, 6), torch.randn(4, 6)
    p = unknot.Trace()
    make(scale=0.3).site(p, outputs, x, "x")
    torch.testing.assert_close(p["x"].log_prob, Normal(outputs, 0.3).log_prob(x).sum(-1))
    assert make().mean(outputs) is outputs


def test_a_learned_scale_is_one_weight() -> None:
    assert sum(p.numel() for p in make().parameters()) == 1
    assert not list(make(scale=0.2).parameters())
