"""Jittered images: small random affine maps, a part of the recogniser's training."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import affine_grid, grid_sample


class AffineJitter(nn.Module):
    """Turns, scales, shears and shifts every image of a batch by its own small random amount.

    Only in training mode; ``(B, C, H, W) -> (B, C, H, W)``. Amounts are in radians and in fractions.
    """

    def __init__(
        self, turn: float = 0.4, scale: float = 0.3, shear: float = 0.4, shift: float = 0.12
    ) -> None:
        super().__init__()
        self.amounts = (turn, scale, shear, shift)

    def forward(self, images: Tensor) -> Tensor:
        if not self.training:
            return images
        turn, scale, shear, shift = self.amounts
        noise = 2 * torch.rand(6, images.shape[0], device=images.device, dtype=images.dtype) - 1  # (6, B)
        angle, slant = turn * noise[0], shear * noise[1]
        wide, high = 1 + scale * noise[2], 1 + scale * noise[3]
        right, down = shift * noise[4], shift * noise[5]
        first = torch.stack([wide * angle.cos(), slant - angle.sin(), right], -1)
        second = torch.stack([angle.sin(), high * angle.cos(), down], -1)
        maps = torch.stack([first, second], 1)  # (B, 2, 3)
        grid = affine_grid(maps, list(images.shape), align_corners=False)
        return grid_sample(images, grid, align_corners=False)
