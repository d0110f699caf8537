"""Upright: whatever place and size the ink has, it comes to the middle and to one size; then it is turned."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from experiments.sprites.ink_frame import ink_moments
from experiments.sprites.upright import RADIUS, upright


def blob(x: float, y: float, width: float, height: float, side: int = 41) -> Tensor:
    """A smooth spot at a place of the page from -1 to 1, ``(1, 1, S, S)``."""
    line = (torch.arange(side) + 0.5) / side * 2 - 1
    across, down = (line - x) / width, (line - y) / height
    return torch.exp(-0.5 * (across[None, :] ** 2 + down[:, None] ** 2))[None, None]


def test_place_and_size_of_the_ink_do_not_matter() -> None:
    small = upright(blob(0.3, -0.2, 0.1, 0.1), torch.zeros(1, 1))
    large = upright(blob(-0.1, 0.1, 0.2, 0.2), torch.zeros(1, 1))
    torch.testing.assert_close(small, large, atol=0.06, rtol=0)
    for image in (small, large):
        center, radius = ink_moments(image)
        assert center.abs().max() < 0.01
        assert abs(float(radius) - RADIUS) < 0.05  # what lies outside the page is lost


def test_a_quarter_turn_makes_a_wide_spot_high_and_a_turn_goes_from_x_to_y() -> None:
    wide = blob(0.0, 0.0, 0.2, 0.1)
    turned = upright(wide, torch.full((1, 1), math.pi / 2))
    torch.testing.assert_close(turned, upright(wide.mT, torch.zeros(1, 1)), atol=1e-4, rtol=0)
    spot = wide + 0.5 * blob(0.4, 0.0, 0.05, 0.05)  # something on the right
    before, after = (upright(spot, torch.full((1, 1), a))[0, 0] for a in (0.0, math.pi / 2))
    torch.testing.assert_close(after, before.rot90(-1), atol=1e-4, rtol=0)  # now below: y points down


def test_any_leading_axes_and_gradients_of_image_and_angle() -> None:
    torch.manual_seed(0)
    images = torch.rand(3, 1, 2, 1, 6, 6, dtype=torch.float64)
    angles = torch.rand(4, 3, 1, 2, 1, dtype=torch.float64)
    found = upright(images, angles)
    assert found.shape == (4, 3, 1, 2, 1, 6, 6)
    torch.testing.assert_close(found[2, 1, 0], upright(images[1, 0], angles[2, 1, 0]))
    few = (images[0, 0, :, :, :4, :4].clone().requires_grad_(), angles[0, 0, 0].clone().requires_grad_())
    assert torch.autograd.gradcheck(upright, few)
