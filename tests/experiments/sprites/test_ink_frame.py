"""The frame of the ink: moments by hand, what a framed image no longer tells, and who sees it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from experiments.sprites.ink_frame import RADIUS, SPREAD, FramedTrunk, framed, ink_moments, upright
from tests.models.digits import NODES, batch_of_digits
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks.parts import Parts

CONVOLUTIONS = {"name": "conv", "channels": [4, 8]}


def bar(left: float, top: float, size: float, side: int = 64) -> Tensor:
    """A bar twice as wide as high, (1, 1, side, side), its middle at (left, top) from -1 to 1."""
    place = (2 * torch.arange(side) + 1) / side - 1
    inside = ((place - left).abs() < size)[None, :] & ((place - top).abs() < size / 2)[:, None]
    return inside[None, None].float()


def test_the_moments_are_those_of_a_double_loop() -> None:
    images = torch.rand(3, 2, 5, 7, generator=torch.Generator().manual_seed(0))
    center, spread = ink_moments(images)
    for item in range(3):
        points = [
            (float(images[item, :, row, column].mean()), (2 * column + 1) / 7 - 1, (2 * row + 1) / 5 - 1)
            for row in range(5)
            for column in range(7)
        ]
        total = sum(ink for ink, _, _ in points)
        right = sum(ink * u for ink, u, _ in points) / total
        down = sum(ink * v for ink, _, v in points) / total
        square = sum(ink * ((u - right) ** 2 + (v - down) ** 2) for ink, u, v in points) / total
        assert center[item].tolist() == pytest.approx([right, down], abs=1e-5)
        assert float(spread[item]) == pytest.approx(square**0.5, abs=1e-5)


def test_place_and_size_are_gone_and_the_shape_is_not() -> None:
    here, there = framed(bar(-0.4, 0.3, 0.25)), framed(bar(0.3, -0.2, 0.5))
    assert float((here - there).abs().mean()) < 0.02
    turned = framed(bar(0.3, -0.2, 0.5).transpose(-1, -2))
    assert float((here - turned).abs().mean()) > 0.1


def test_framed_ink_lies_in_the_middle_in_one_size() -> None:
    center, spread = ink_moments(framed(torch.cat([bar(-0.4, 0.3, 0.25), bar(0.2, 0.1, 0.6)])))
    torch.testing.assert_close(center, torch.zeros(2, 2), atol=0.01, rtol=0.0)
    torch.testing.assert_close(spread, torch.full((2,), SPREAD), atol=0.01, rtol=0.0)


def test_an_empty_page_and_a_single_point_have_gradients() -> None:
    images = torch.zeros(2, 1, 8, 8)
    images[1, 0, 2, 3] = 1.0
    images.requires_grad_()
    made = framed(images)
    assert not made[0].any()
    made.sum().backward()
    assert images.grad is not None
    assert bool(images.grad.isfinite().all())


def test_the_class_sees_the_frame_and_the_style_the_page() -> None:
    nodes = {
        "digit": {**NODES["digit"], "encoder": {"name": "mlp", "part": "shapes"}},
        "style": {**NODES["style"], "encoder": {"name": "mlp", "part": "pixels"}},
        "x": {
            **NODES["x"],
            "encoder": {
                "name": "parts",
                "shapes": {"name": "experiments.sprites.ink_frame:FramedTrunk", "encoder": CONVOLUTIONS},
                "pixels": CONVOLUTIONS,
            },
        },
    }
    torch.manual_seed(0)
    model, x = GraphicalModel({"nodes": nodes}, (1, 8, 8)).eval(), batch_of_digits().x
    trunk = model.trunk
    assert isinstance(trunk, Parts)
    shapes = trunk.networks["shapes"]
    assert isinstance(shapes, FramedTrunk)
    features = trunk(x)
    torch.testing.assert_close(features[:, trunk.parts["shapes"]], shapes.network(framed(x)))
    torch.testing.assert_close(features[:, trunk.parts["pixels"]], trunk.networks["pixels"](x))


# Upright: whatever place and size the ink has, it comes to the middle and to one size; then it is turned.


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
