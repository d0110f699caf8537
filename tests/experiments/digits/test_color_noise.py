"""Noise of brightness and of color against torch's full covariance, pixel by pixel."""

from __future__ import annotations

import pytest
import torch
from torch import Size, Tensor
from torch.distributions import MultivariateNormal, Normal

import unknot
from experiments.digits.color_noise import ColorNormal, ColorNormalLikelihood
from unknot.errors import SpecError
from unknot.models import node
from unknot.models.likelihoods import likelihood
from unknot.models.spec import read_spec

SCALE, COLOR = 0.2, 0.05


def covariance(channels: int = 3) -> Tensor:
    """σ² along the gray axis and τ² across it."""
    gray = torch.full((channels, channels), 1 / channels, dtype=torch.float64)
    return SCALE**2 * gray + COLOR**2 * (torch.eye(channels, dtype=torch.float64) - gray)


def noise(loc: Tensor, color: float = COLOR) -> ColorNormal:
    return ColorNormal(loc, loc.new_tensor(SCALE), loc.new_tensor(color))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_the_density_is_that_of_the_whole_covariance_pixel_by_pixel(channels: int) -> None:
    loc, x = torch.randn(2, 5, channels, 4, 3, dtype=torch.float64)
    expected = torch.zeros(5, dtype=torch.float64)
    for i in range(4):
        for j in range(3):
            expected += MultivariateNormal(loc[..., i, j], covariance(channels)).log_prob(x[..., i, j])
    torch.testing.assert_close(noise(loc).log_prob(x), expected)


def test_axes_of_brightness_and_two_differences_give_the_same_density() -> None:
    axes = torch.tensor(
        [[1, 1, 1], [1, 0, -1], [1, -2, 1]], dtype=torch.float64
    )  # brightness, two differences
    axes = axes / axes.norm(dim=1, keepdim=True)
    loc, x = torch.randn(2, 5, 3, 4, 4, dtype=torch.float64)
    turned = torch.einsum("ij,bjhw->bihw", axes, x - loc)
    scales = torch.tensor([SCALE, COLOR, COLOR], dtype=torch.float64).view(3, 1, 1)
    expected = Normal(0.0, scales).log_prob(turned).sum((-3, -2, -1))
    torch.testing.assert_close(noise(loc).log_prob(x), expected)


def test_one_noise_for_both_is_the_usual_density() -> None:
    loc, x = torch.randn(2, 5, 3, 4, 4)
    expected = Normal(loc, SCALE).log_prob(x).sum((-3, -2, -1))
    torch.testing.assert_close(noise(loc, SCALE).log_prob(x), expected, rtol=1e-4, atol=1e-2)


def test_draws_have_the_covariance_and_carry_gradient() -> None:
    torch.manual_seed(0)
    loc = torch.zeros(3, 1, 1, requires_grad=True)
    drawn = noise(loc).rsample((40000,))
    found = drawn.detach().flatten(1).T.cov()
    torch.testing.assert_close(found.double(), covariance(), rtol=0.05, atol=2e-4)
    drawn.sum().backward()
    assert loc.grad is not None
    assert float(loc.grad.sum()) == 3 * 40000
    assert noise(torch.zeros(1, 3, 2, 2)).expand((7,)).rsample().shape == (7, 3, 2, 2)


FAMILY = "experiments.digits.color_noise:ColorNormalLikelihood"


def make(shape: tuple[int, ...] = (3, 4, 4), **options: float) -> ColorNormalLikelihood:
    spec = node("x", {"name": FAMILY, "color_scale": COLOR, **options}, parents=["z"])
    made = likelihood(spec, Size(shape), 16)
    assert isinstance(made, ColorNormalLikelihood)
    return made


def test_a_node_with_color_scale_scores_by_it() -> None:
    outputs, x = torch.randn(2, 5, 3, 4, 4)
    p = unknot.Trace()
    make(scale=SCALE).site(p, outputs, x, "x")
    torch.testing.assert_close(p["x"].log_prob, noise(outputs).log_prob(x))
    half = unknot.Trace()
    make(scale=SCALE).site(half, outputs.bfloat16(), x, "x")
    assert half["x"].log_prob.dtype == torch.float32
    assert make(scale=SCALE).draw(outputs).shape == x.shape


def test_brightness_may_be_learned_beside_a_given_color() -> None:
    one = make()
    outputs, x = torch.randn(2, 5, 3, 4, 4)
    p = unknot.Trace()
    one.site(p, outputs, x, "x")
    p.log_prob().sum().backward()
    assert one.raw_scale is not None
    assert float(one.raw_scale.grad.abs()) > 0


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(
        SpecError,
        match=r"node 'x': a color_normal likelihood is for images \(C, H, W\), but the data is \(6,\)",
    ):
        make((6,))
    latent, data = node("z", "normal", 2, inferred_from=["x"]), {"name": FAMILY, "color_scale": 0.0}
    with pytest.raises(SpecError, match="color_scale is a number above 0"):
        read_spec([latent, node("x", data, parents=["z"])])
    with pytest.raises(SpecError, match="has no class 'ColorNormalLikelihood' derived from"):
        read_spec([node("z", FAMILY, 2, inferred_from=["x"]), node("x", "normal", parents=["z"])])
