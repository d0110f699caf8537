"""Networks on blocks of pixels: shapes with leading axes, and every pixel is seen and can be drawn."""

from __future__ import annotations

import pytest
import torch
from torch import Size

from experiments.sprites.shuffled import ShuffledDecoder, ShuffledTrunk


@pytest.mark.parametrize("shape", [(1, 16, 16), (3, 32, 48)])
def test_shapes(shape: tuple[int, int, int]) -> None:
    trunk, decoder = ShuffledTrunk(Size(shape)), ShuffledDecoder(7, Size(shape))
    assert trunk(torch.rand(3, *shape)).shape == (3, 256)
    assert decoder(torch.rand(2, 3, 7)).shape == (2, 3, *shape)


def test_every_pixel_has_an_influence() -> None:
    torch.manual_seed(0)
    x = torch.rand(1, 1, 32, 32, requires_grad=True)
    ShuffledTrunk(Size((1, 32, 32)))(x).square().sum().backward()
    assert x.grad is not None
    assert (x.grad != 0).all()
