"""Covariance of codes, as DIP-VAE needs it."""

import torch

import unknot
from unknot.objectives.parts.moments import Covariance, code_covariance, covariance_penalties


def test_the_covariance_is_that_of_torch_without_the_correction():
    mean = torch.randn(20, 4, dtype=torch.float64)
    torch.testing.assert_close(code_covariance(mean), torch.cov(mean.mT, correction=0))


def test_codes_distributed_like_the_prior_cost_nothing():
    """Means ±½ in every combination and variance ¾ have covariance I under q(z)."""
    corners = torch.cartesian_prod(*[torch.tensor([-0.5, 0.5], dtype=torch.float64)] * 3)
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(corners, torch.full((8, 3), 0.75).double().sqrt(), name="z")
    p.normal(torch.zeros((), dtype=torch.float64), 1.0, value=q["z"], name="z")
    for penalty in covariance_penalties(q, p, Covariance.II).values():
        torch.testing.assert_close(penalty, torch.zeros((), dtype=torch.float64))
    of_means = covariance_penalties(q, p, Covariance.I)
    torch.testing.assert_close(of_means["diagonal"], torch.tensor(3 * 0.75**2).double())
