"""Features of drawn characters that are measured in the image: width of the stroke and of the character."""

from __future__ import annotations

import torch
from torch import Tensor


def stroke(images: Tensor) -> Tensor:
    """Return the width of the stroke in pixels, (N,), of images (N, 1, H, W) from 0 to 1: 2 · ink / edge.

    Ink is the sum of the pixels, edge the sum of the norm of the gradient. A stroke of width w and length L >> w, sharp
    or blurred, has ink w L and edge 2 L.
    """
    padded = torch.nn.functional.pad(images[:, 0], (1, 1, 1, 1))
    down = padded[:, 1:, :-1] - padded[:, :-1, :-1]
    across = padded[:, :-1, 1:] - padded[:, :-1, :-1]
    edge = (down.square() + across.square()).sqrt().sum((-2, -1))
    return 2 * images.sum((-3, -2, -1)) / edge.clamp(min=1e-6)


def width(images: Tensor) -> Tensor:
    """Return the width of the character in pixels, (N,): the standard deviation of the columns of the ink, times √12.

    It is w for ink that is uniform over w columns.
    """
    columns = images.sum((-3, -2))  # (N, W)
    mass = columns / columns.sum(-1, keepdim=True).clamp(min=1e-6)
    place = torch.arange(columns.shape[-1], dtype=mass.dtype)
    center = (mass * place).sum(-1, keepdim=True)
    return (12 * (mass * (place - center).square()).sum(-1)).sqrt()
