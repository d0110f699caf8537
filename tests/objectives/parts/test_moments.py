"""Covariance of codes, as DIP-VAE needs it."""

import pytest
import torch

import unknot
from unknot.objectives.parts.literature_terms import Covariance, code_covariance, covariance_penalties


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


@pytest.mark.parametrize("kind", ["I", "II"])
def test_a_multivariate_normal_counts_with_its_whole_covariance(kind):
    """By loops: E[μ μᵀ] - E[μ] E[μ]ᵀ, and for II the mean of the covariances given x."""
    loc, w = torch.randn(5, 2, dtype=torch.float64), torch.randn(5, 1, dtype=torch.float64)
    spread = torch.randn(5, 2, 2, dtype=torch.float64).tril() + 2 * torch.eye(2, dtype=torch.float64)
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(w, 0.5, name="w", event_dims=1)
    q.multivariate_normal(loc, scale_tril=spread, name="z")
    for name, scale in (("w", 2.0), ("z", 3.0)):
        p.normal(torch.zeros((), dtype=torch.float64), scale, value=q[name], name=name)
    means = [[float(w[b, 0]), *loc[b].tolist()] for b in range(5)]
    off_diagonal = diagonal = 0.0
    for i in range(3):
        for j in range(3):
            center = [sum(mean[k] for mean in means) / 5 for k in (i, j)]
            entry = sum((mean[i] - center[0]) * (mean[j] - center[1]) for mean in means) / 5
            if kind == "II" and i > 0 and j > 0:
                rows = [sum(spread[b, i - 1, m] * spread[b, j - 1, m] for m in range(2)) for b in range(5)]
                entry += float(sum(rows)) / 5
            elif kind == "II" and i == j:
                entry += 0.25
            if i == j:
                diagonal += (entry - (4.0 if i == 0 else 9.0)) ** 2
            else:
                off_diagonal += entry**2
    found = covariance_penalties(q, p, Covariance(kind))
    assert float(found["off_diagonal"]) == pytest.approx(off_diagonal)
    assert float(found["diagonal"]) == pytest.approx(diagonal)
