"""The frame of the ink: an image moved and zoomed so that what is drawn on it lies in the middle, in one size.

Where a thing lies and how large it is are then gone from the image, whatever the thing is; what it is, and how it is
turned, stay. A class that is read from such images cannot become a place or a size.
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

SPREAD = 0.4  # of half a side: the ink's root mean square distance from the middle, once it is framed
_LARGEST = 5.0  # zoom either way
_POINT = 1e-8  # the square of the smallest spread: the slope of a root is infinite at zero


def ink_moments(images: Tensor) -> tuple[Tensor, Tensor]:
    """Center (..., 2) of the ink of images (..., C, H, W), and its root mean square distance from it, (...).

    Ink w is brightness, as the empty page is black; coordinates u go from -1 to 1, right and down:

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
    """Images (B, C, H, W) with the ink's center in the middle, and of one spread; an empty page stays empty."""
    center, own = ink_moments(images)
    zoom = (own / spread).clamp(1 / _LARGEST, _LARGEST)
    eye = torch.eye(2, device=images.device, dtype=images.dtype)
    maps = torch.cat(
        [zoom[:, None, None] * eye, center[:, :, None]], -1
    )  # (B, 2, 3): from the frame to the page
    grid = affine_grid(maps, list(images.shape), align_corners=False)
    return grid_sample(images, grid, align_corners=False)


class FramedTrunk(Trunk):
    """An encoder's first network that sees images (C, H, W) in the frame of their ink.

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
    """Where the middles of the pixels of an axis lie, from -1 to 1."""
    count = masses.shape[-1]
    steps = torch.arange(count, device=masses.device, dtype=masses.dtype)
    return (2 * steps + 1) / count - 1
