"""Pixels from 0 to 1: torch's own scores and means."""

from __future__ import annotations

import pytest
import torch
from torch import Size, nn
from torch.distributions import Bernoulli

import unknot
from unknot.errors import SpecError
from unknot.models import node
from unknot.models.likelihoods.bernoulli import BernoulliLikelihood
from unknot.models.spec import read_spec


def test_scores_and_means_are_torchs_own() -> None:
    one = BernoulliLikelihood(node("x", "bernoulli", parents=["z"]), Size((6,)), 16)
    outputs, pixels = torch.randn(4, 6), torch.randint(0, 2, (4, 6)).float()
    p = unknot.Trace()
    one.site(p, outputs, pixels, "x")
    dist = Bernoulli(logits=outputs)
    torch.testing.assert_close(p["x"].log_prob, dist.log_prob(pixels).sum(-1))
    torch.testing.assert_close(one.mean(outputs), dist.mean)


def test_means_of_pixels_score_as_the_pixels_do() -> None:
    one = BernoulliLikelihood(node("x", "bernoulli", parents=["z"], pixels=4), Size((6,)), 16)
    outputs, pixels = torch.randn(5, 6), torch.randint(0, 2, (5, 6, 4)).float()
    p = unknot.Trace()
    one.site(p, outputs, pixels.mean(-1), "x")
    torch.testing.assert_close(
        p["x"].log_prob, Bernoulli(logits=outputs[..., None]).log_prob(pixels).sum((-1, -2))
    )
    with pytest.raises(SpecError, match="node 'z': pixels says how many"):
        read_spec(
            [node("z", "normal", 2, inferred_from=["x"], pixels=4), node("x", "bernoulli", parents=["z"])]
        )


def test_dropout_of_the_encoder_is_what_the_node_says() -> None:
    for given, share in ((None, 0.2), (0.0, 0.0)):
        one = BernoulliLikelihood(node("x", "bernoulli", parents=["z"], dropout=given), Size((1, 8, 8)), 16)
        assert [layer.p for layer in one.trunk().modules() if isinstance(layer, nn.Dropout)] == [share]
