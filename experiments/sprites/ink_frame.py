"""Images normalized by the moments of their ink: centered, of one size, and rotated.

A class that is inferred from normalized images cannot encode position or size. A template with normalized ink cannot
trade its own size and position for those of the object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from unknot.models.by_name import NAMED, Named
from unknot.models.networks.network import Place, Trunk
from unknot.models.networks.registry import build_trunk
from unknot.schema import Schema

RADIUS = 0.5  # root mean square distance of the ink of a template from the center, of half a side
_SMALLEST = 0.01  # radius from which templates are enlarged
SPREAD = 0.4  # the same for the images of an encoder
_LARGEST = 5.0  # the largest zoom, in and out
_POINT = 1e-8  # the smallest squared spread: the gradient of a root is infinite at zero


def ink_moments(images: Tensor) -> tuple[Tensor, Tensor]:
    """Return the center (..., 2) of the ink of images (..., C, H, W), and the root mean square distance from it, (...).

    Ink w is brightness; coordinates u go from -1 to 1, right and down:

        center = Σ w u / Σ w,    spread² = Σ w |u - center|² / Σ w.

    >>> page = torch.zeros(1, 1, 8, 8)
    >>> page[..., 2:4, 6:8] = 1.0
    >>> center, spread = ink_moments(page)
    >>> center.tolist(), round(float(spread), 4)
    ([[0.75, -0.25]], 0.1768)
    """
    ink = images.mean(-3).clamp_min(0)  # (..., H, W)
    share = ink / ink.sum((-2, -1), keepdim=True).clamp_min(1e-6)
    sides = share.sum(-2), share.sum(-1)  # (..., W), (..., H)
    center = torch.stack([(mass * _places(mass)).sum(-1) for mass in sides], -1)
    apart = [_places(mass) - center[..., k : k + 1] for k, mass in enumerate(sides)]
    square = sum((mass * away.square()).sum(-1) for mass, away in zip(sides, apart, strict=True))
    return center, torch.as_tensor(square).clamp_min(_POINT).sqrt()


def framed(images: Tensor, spread: float = SPREAD) -> Tensor:
    """Return images (B, C, H, W) with centered ink of one spread."""
    center, own = ink_moments(images)
    zoom = (own / spread).clamp(1 / _LARGEST, _LARGEST)
    eye = torch.eye(2, device=images.device, dtype=images.dtype)
    maps = torch.cat([zoom[:, None, None] * eye, center[:, :, None]], -1)  # (B, 2, 3)
    grid = affine_grid(maps, list(images.shape), align_corners=False)
    return grid_sample(images, grid, align_corners=False)


class FramedTrunk(Trunk):
    """Features of an encoder from images (C, H, W) with centered ink of one spread.

    >>> from unknot.models.networks.conv import ImageTrunk
    >>> trunk = FramedTrunk(ImageTrunk(torch.Size((1, 8, 8)), (4, 8))).eval()
    >>> page = torch.zeros(1, 1, 8, 8)
    >>> page[..., 2:4, 2:5] = 1.0
    >>> torch.allclose(trunk(page), trunk(page.roll((2, 3), (-2, -1))), atol=1e-5)
    True
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"encoder": NAMED}

    def __init__(self, network: Trunk) -> None:
        super().__init__(network.features)
        self.network = network

    @classmethod
    def build(cls, place: Place, encoder: Any = "conv") -> Self:
        return cls(build_trunk(Named.read(encoder), place))

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.network(framed(x))
        return features


def _places(masses: Tensor) -> Tensor:
    """Return the centers of the pixels of an axis, from -1 to 1."""
    count = masses.shape[-1]
    steps = torch.arange(count, device=masses.device, dtype=masses.dtype)
    return (2 * steps + 1) / count - 1


def upright(image: Tensor, angle: Tensor) -> Tensor:
    """Return images ``(..., 1, S, S)`` with centered ink of one size, rotated by angles ``(..., 1)`` in radians.

    >>> page = torch.zeros(1, 1, 9, 9)
    >>> page[..., 1:4, 5:8] = 1.0
    >>> ink_moments(upright(page, torch.zeros(1, 1)))[0].abs().max() < 0.01
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
    """Return the centers of the pixels of a square from -1 to 1, ``(S * S, 2)``, x before y."""
    line = (torch.arange(side, device=like.device, dtype=like.dtype) + 0.5) / side * 2 - 1
    return torch.stack([line.repeat(side), line.repeat_interleave(side)], -1)
