"""Upright: images brought to one place and one size by their own ink, and turned.

Where a model learns what a thing looks like *and* where it lies, the two can trade: a template drawn larger and put
down smaller, or drawn beside the middle and put down beside it, makes the same image. Here ink decides. With the mean c
and the root mean square distance r of the ink of an image t,

    c = Σ v t(v) / Σ t(v),    r² = Σ |v - c|² t(v) / Σ t(v),

the image is moved so that c lies in the middle and r is :data:`RADIUS` of half a side, and then turned.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from experiments.sprites.ink_frame import ink_moments

# The ink's root mean square distance from the middle; a square then reaches to 0.87 at its corners.
RADIUS = 0.5
_SMALLEST = 0.01  # radius: less ink than that is not made larger without end


def upright(image: Tensor, angle: Tensor) -> Tensor:
    """Images ``(..., 1, S, S)``, their ink centered and of one size, turned by angles ``(..., 1)`` in radians.

    >>> page = torch.zeros(1, 1, 9, 9)
    >>> page[..., 1:4, 5:8] = 1.0  # a small square in a corner
    >>> ink_moments(upright(page, torch.zeros(1, 1)))[0].abs().max() < 0.01  # is in the middle
    tensor(True)
    """
    side = image.shape[-1]
    leading = torch.broadcast_shapes(image.shape[:-3], angle.shape[:-1])
    center, spread = ink_moments(image)  # (..., 2), (...)
    radius = spread.clamp_min(_SMALLEST).unsqueeze(-1)
    cos, sin = angle.cos() / RADIUS, angle.sin() / RADIUS
    turn = torch.stack([torch.cat([cos, sin], -1), torch.cat([-sin, cos], -1)], -2)  # (..., 2, 2)
    grid = points(side, image) @ (radius.unsqueeze(-1) * turn).mT + center.unsqueeze(-2)  # (..., S * S, 2)
    grid = grid.expand(*leading, *grid.shape[-2:]).reshape(-1, side, side, 2)
    images = image.expand(*leading, *image.shape[-3:]).reshape(-1, 1, side, side)
    return grid_sample(images, grid, align_corners=False).reshape(*leading, 1, side, side)


def points(side: int, like: Tensor) -> Tensor:
    """The middles of the pixels of a square from -1 to 1, ``(S * S, 2)``, x before y."""
    line = (torch.arange(side, device=like.device, dtype=like.dtype) + 0.5) / side * 2 - 1
    return torch.stack([line.repeat(side), line.repeat_interleave(side)], -1)
