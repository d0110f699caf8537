"""Pathwise draws: the draw of the same seed, and the gradient through it."""

from __future__ import annotations

import pytest
import torch

import unknot
from tests.core.gradients.by_hand import B, K


def test_pathwise() -> None:
    loc, scale = torch.randn(B, K, requires_grad=True), (torch.rand(B, K) + 0.5).requires_grad_()
    q = unknot.Trace()
    torch.manual_seed(1)
    z = q.normal(loc, scale, name="z")
    torch.manual_seed(1)
    epsilon = torch.empty(B, K).normal_()
    torch.testing.assert_close(z, loc + scale * epsilon)
    by_loc, by_scale = torch.autograd.grad((z**2).sum(), (loc, scale))
    torch.testing.assert_close(by_loc, 2 * z)
    torch.testing.assert_close(by_scale, 2 * z * epsilon)


def test_a_uniform_site_has_no_score_function() -> None:
    """Its support moves with the parameters, so the score misses the edges."""
    with pytest.raises(
        unknot.UnknotError, match="'score_function' does not fit Uniform; choose one of pathwise"
    ):
        unknot.Trace().uniform(torch.zeros(2), 1.0, name="u", gradient="score_function")
    high = torch.full((B,), 2.0, requires_grad=True)
    q = unknot.Trace()
    torch.manual_seed(1)
    u = q.uniform(0.0, high, name="u")
    (slope,) = torch.autograd.grad((u**2).sum(), high)
    torch.testing.assert_close(slope, 2 * u * u / 2.0)
