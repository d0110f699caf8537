"""Pixels from 0 to 1: torch's own scores and means."""

from __future__ import annotations

import pytest
import torch
from torch import Size
from torch.distributions import Bernoulli

import unknot
from unknot.errors import DataError, SpecError
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
    one = BernoulliLikelihood(node("x", {"name": "bernoulli", "pixels": 4}, parents=["z"]), Size((6,)), 16)
    outputs, pixels = torch.randn(5, 6), torch.randint(0, 2, (5, 6, 4)).float()
    p = unknot.Trace()
    one.site(p, outputs, pixels.mean(-1), "x")
    torch.testing.assert_close(
        p["x"].log_prob, Bernoulli(logits=outputs[..., None]).log_prob(pixels).sum((-1, -2))
    )
    wrong = node("z", {"name": "normal", "pixels": 4}, 2, inferred_from=["x"])
    with pytest.raises(SpecError, match=r"model.nodes.z.family: 'normal' has no option 'pixels'"):
        read_spec([wrong, node("x", "bernoulli", parents=["z"])])


def test_items_out_of_range_are_refused() -> None:
    spec = node("x", "bernoulli", parents=["z"])
    BernoulliLikelihood.check_items(spec, torch.tensor([0.0, 1.0]))
    with pytest.raises(DataError, match=r"x holds 1\.5, .* scale x as it was for fit"):
        BernoulliLikelihood.check_items(spec, torch.tensor([0.0, 1.5]))
