"""Unit vectors: the density integrates to one, draws follow it, and what networks see of them."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import normalize

from unknot.errors import SpecError
from unknot.models import node
from unknot.models.families.direction import Direction, DirectionFamily
from unknot.models.spec import read_spec


def test_directions_have_three_numbers() -> None:
    with pytest.raises(SpecError, match="of size 3, not 2"):
        read_spec([node("z", "direction", 2, inferred_from=["x"]), node("x", "normal", parents=["z"])])


def test_networks_see_a_direction_standardized() -> None:
    light = DirectionFamily(node("light", "direction", 3, inferred_from=["x"]))
    directions = normalize(torch.randn(200_000, 3), dim=-1)
    seen = light.features(directions)
    torch.testing.assert_close(seen.mean(0), torch.zeros(8), rtol=0, atol=5 / 200_000**0.5)
    covariance = seen.T @ seen / len(seen)  # entries have a standard error of about 1 / sqrt(N)
    torch.testing.assert_close(covariance, torch.eye(8), rtol=0, atol=6 * 1.5 / 200_000**0.5)


def test_it_is_set_to_directions_from_left_to_right() -> None:
    settings = DirectionFamily.settings(3)
    torch.testing.assert_close(settings.values.norm(dim=-1), torch.ones(7))
    assert (settings.values[:, 0].diff() > 0).all()
    assert settings.values[3].tolist() == [0.0, 0.0, 1.0]
    assert settings.names == ("-75°", "-50°", "-25°", "0°", "25°", "50°", "75°")


# ---- the distribution ----------------------------------------------------------------------------------


def sphere(count: int) -> torch.Tensor:
    """Evenly spread points (a Fibonacci lattice): each stands for 4π/count of the sphere."""
    i = torch.arange(count, dtype=torch.float64) + 0.5
    height = 1 - 2 * i / count
    turn = math.pi * (1 + 5**0.5) * i
    ring = (1 - height**2).sqrt()
    return torch.stack([ring * turn.cos(), ring * turn.sin(), height], -1)


def test_the_density_integrates_to_one() -> None:
    points = sphere(200_000)
    mean = torch.nn.functional.normalize(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64), dim=-1)
    for kappa in (1e-6, 0.3, 5.0, 80.0):
        log_prob = Direction(mean, torch.tensor(kappa, dtype=torch.float64)).log_prob(points)
        torch.testing.assert_close(
            log_prob.exp().mean() * 4 * math.pi, torch.tensor(1.0, dtype=torch.float64), rtol=1e-4, atol=0
        )


def test_draws_have_the_exact_mean_length() -> None:
    """E[μ·v] = coth κ - 1/κ; a mean of 40000 draws is within five standard errors (false alarm 6e-7)."""
    torch.manual_seed(0)
    mean = torch.nn.functional.normalize(torch.tensor([0.2, 0.9, -0.4]), dim=-1)
    for kappa in (0.5, 4.0, 60.0):
        draws = Direction(mean, torch.tensor(kappa)).rsample((40_000,))
        torch.testing.assert_close(draws.norm(dim=-1), torch.ones(40_000), rtol=1e-4, atol=1e-4)
        heights = draws @ mean
        expected = 1 / math.tanh(kappa) - 1 / kappa
        assert abs(heights.mean().item() - expected) < 5 * heights.std().item() / 200


def test_draws_are_pathwise() -> None:
    torch.manual_seed(0)
    raw = torch.tensor([0.2, 0.9, -0.4], requires_grad=True)
    kappa = torch.tensor(3.0, requires_grad=True)
    draws = Direction(torch.nn.functional.normalize(raw, dim=-1), kappa).rsample((50_000,))
    target = torch.tensor([0.0, 0.0, 1.0])
    (draws @ target).mean().backward()
    # E[v] = A(κ) μ, so d/dκ E[t·v] = A'(κ) t·μ with A'(κ) = 1/κ² - 1/sinh²κ
    slope = (1 / 9 - 1 / math.sinh(3.0) ** 2) * torch.nn.functional.normalize(raw.detach(), dim=-1)[2]
    torch.testing.assert_close(kappa.grad, slope, rtol=0.1, atol=0.01)
    assert raw.grad is not None
    assert torch.isfinite(raw.grad).all()
    assert raw.grad.norm() > 0


def test_the_mean_may_be_the_pole_itself() -> None:
    draws = Direction(torch.tensor([0.0, 0.0, 1.0]), torch.tensor(500.0)).rsample((100,))
    assert torch.isfinite(draws).all()
    assert draws[:, 2].mean() > 0.9
