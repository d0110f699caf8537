"""Augmented images: small random changes of place, shape and light, for training."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import affine_grid, grid_sample, interpolate

from unknot.schema import check, choice, either, number, table

AMOUNTS = ("turn", "scale", "zoom", "shear", "shift", "bend", "gain", "gamma", "hide")
NAMED: dict[str, dict[str, float]] = {
    "affine": {},
    "elastic": {"bend": 0.06},
}  # what differs from the defaults
_KNOTS = 5  # bends are drawn on a lattice of this many points a side, and smooth between them

AUGMENT = either(
    table({name: number() for name in AMOUNTS}, "amounts by name"),
    {**choice(NAMED), "description": f"one of {', '.join(NAMED)}, or amounts by name"},
)


class Augmentation(nn.Module):
    """Rotates, scales, shears, shifts and bends every image of a batch by its own small random amount.

    Only in training mode; ``(B, C, H, W) -> (B, C, H, W)``. Amounts of turn, scale, zoom, shear and shift are uniform
    from minus to plus the given one.

    Parameters
    ----------
    turn, shear : float
        In radians.
    scale, shift : float
        Of each side on its own, as a share of half a side.
    zoom : float, default=0.0
        Of both sides alike, in logarithms.
    bend : float, default=0.0
        Standard deviation of a smooth displacement of points (Simard et al. 2003), as a share of half a side.
    gain, gamma : float, default=0.0
        Standard deviations of the logarithms of a factor and of an exponent of brightness.
    hide : float, default=0.0
        The largest side of a square that is filled with the image's mean, as a share of the image's.
    """

    def __init__(
        self,
        turn: float = 0.4,
        scale: float = 0.3,
        shear: float = 0.4,
        shift: float = 0.12,
        bend: float = 0.0,
        gain: float = 0.0,
        gamma: float = 0.0,
        hide: float = 0.0,
        zoom: float = 0.0,
    ) -> None:
        super().__init__()
        self.amounts = (turn, scale, shear, shift)
        self.bend, self.gain, self.gamma, self.hide, self.zoom = bend, gain, gamma, hide, zoom

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            return images
        grid = affine_grid(self._maps(images), list(images.shape), align_corners=False)  # (B, H, W, 2)
        if self.bend:
            grid = grid + self._bends(images)
        # photographs continue beyond their edge; what is drawn on an empty page does not
        beyond = "border" if self.gain or self.gamma else "zeros"
        images = grid_sample(images, grid, padding_mode=beyond, align_corners=False)
        if self.gain or self.gamma:
            images = self._lit(images)
        return self._hidden(images) if self.hide else images

    def _maps(self, images: Tensor) -> Tensor:
        turn, scale, shear, shift = self.amounts
        noise = 2 * torch.rand(6, images.shape[0], device=images.device, dtype=images.dtype) - 1  # (6, B)
        angle, slant = turn * noise[0], shear * noise[1]
        wide, high = 1 + scale * noise[2], 1 + scale * noise[3]
        right, down = shift * noise[4], shift * noise[5]
        first = torch.stack([wide * angle.cos(), slant - angle.sin(), right], -1)
        second = torch.stack([angle.sin(), high * angle.cos(), down], -1)
        maps = torch.stack([first, second], 1)  # (B, 2, 3)
        if not self.zoom:
            return maps
        whole = (self.zoom * (2 * torch.rand(len(images), 1, 1, device=images.device) - 1)).exp()
        return torch.cat([whole * maps[..., :2], maps[..., 2:]], -1)

    def _bends(self, images: Tensor) -> Tensor:
        lattice = torch.randn(len(images), 2, _KNOTS, _KNOTS, device=images.device, dtype=images.dtype)
        smooth = interpolate(lattice, size=images.shape[-2:], mode="bicubic", align_corners=True)
        return self.bend * smooth.permute(0, 2, 3, 1)  # (B, H, W, 2)

    def _lit(self, images: Tensor) -> Tensor:
        noise = torch.randn(2, len(images), 1, 1, 1, device=images.device, dtype=images.dtype)
        lifted = images.clamp_min(0) + 1e-3  # the slope of a power is infinite at zero
        return (self.gain * noise[0]).exp() * lifted ** (self.gamma * noise[1]).exp()

    def _hidden(self, images: Tensor) -> Tensor:
        batch, _, height, width = images.shape
        noise = torch.rand(3, batch, 1, 1, 1, device=images.device, dtype=images.dtype)
        center, half = noise[:2], self.hide / 2 * (1 + 2 * noise[2]) / 3  # from a third of the largest
        rows = (torch.arange(height, device=images.device) / height).view(1, 1, -1, 1)
        columns = (torch.arange(width, device=images.device) / width).view(1, 1, 1, -1)
        inside = ((rows - center[0]).abs() < half) & ((columns - center[1]).abs() < half)  # (B, 1, H, W)
        return torch.where(inside, images.mean((1, 2, 3), keepdim=True), images)


def augmenter(described: str | Mapping[str, float]) -> Augmentation:
    """Return an augmentation by its name, or by its amounts: ``{"turn": 0.2, "shift": 0.1}``, the others zero."""
    check(described, AUGMENT, "model.augment")
    if isinstance(described, str):
        return Augmentation(**NAMED[described])
    return Augmentation(**{**dict.fromkeys(AMOUNTS, 0.0), **described})
