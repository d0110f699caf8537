"""Jittered images: small random maps of the plane, a part of the recogniser's training."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import affine_grid, grid_sample, interpolate

from unknot.errors import SpecError

_AMOUNTS = ("turn", "scale", "shear", "shift", "bend")
_NAMED: dict[str, dict[str, float]] = {
    "affine": {},
    "elastic": {"bend": 0.06},
}  # what differs from the defaults
_KNOTS = 5  # bends are drawn on a lattice of this many points a side, and smooth between them


class AffineJitter(nn.Module):
    """Turns, scales, shears, shifts and bends every image of a batch by its own small random amount.

    Only in training mode; ``(B, C, H, W) -> (B, C, H, W)``. Amounts are in radians and in fractions of half a
    side, uniform either way; ``bend`` is the standard deviation by which points of the plane move on their own,
    smoothly from one to the next (Simard et al. 2003).
    """

    def __init__(
        self,
        turn: float = 0.4,
        scale: float = 0.3,
        shear: float = 0.4,
        shift: float = 0.12,
        bend: float = 0.0,
    ) -> None:
        super().__init__()
        self.amounts = (turn, scale, shear, shift)
        self.bend = bend

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            return images
        grid = affine_grid(self._maps(images), list(images.shape), align_corners=False)  # (B, H, W, 2)
        if self.bend:
            grid = grid + self._bends(images)
        return grid_sample(images, grid, align_corners=False)

    def _maps(self, images: Tensor) -> Tensor:
        turn, scale, shear, shift = self.amounts
        noise = 2 * torch.rand(6, images.shape[0], device=images.device, dtype=images.dtype) - 1  # (6, B)
        angle, slant = turn * noise[0], shear * noise[1]
        wide, high = 1 + scale * noise[2], 1 + scale * noise[3]
        right, down = shift * noise[4], shift * noise[5]
        first = torch.stack([wide * angle.cos(), slant - angle.sin(), right], -1)
        second = torch.stack([angle.sin(), high * angle.cos(), down], -1)
        return torch.stack([first, second], 1)  # (B, 2, 3)

    def _bends(self, images: Tensor) -> Tensor:
        lattice = torch.randn(len(images), 2, _KNOTS, _KNOTS, device=images.device, dtype=images.dtype)
        smooth = interpolate(lattice, size=images.shape[-2:], mode="bicubic", align_corners=True)
        return self.bend * smooth.permute(0, 2, 3, 1)  # (B, H, W, 2)


def augmenter(described: str | Mapping[str, float]) -> nn.Module:
    """A jitter by its name, or an affine one by its amounts: ``{"turn": 0.2, "shift": 0.1}``, the others zero."""
    if isinstance(described, str):
        if described not in _NAMED:
            raise SpecError(
                f"model: augment is one of {', '.join(_NAMED)}, or amounts, but it is {described!r}"
            )
        return AffineJitter(**_NAMED[described])
    for key in described:
        if key not in _AMOUNTS:
            raise SpecError(f"model: augment has no amount '{key}'; it takes {', '.join(_AMOUNTS)}")
    return AffineJitter(**{**dict.fromkeys(_AMOUNTS, 0.0), **described})
