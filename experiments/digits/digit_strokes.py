"""Stroke and width of a handwritten character, measured from its pixels by a rule."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor

STROKE, WIDTH = "stroke", "width"
_CHUNK = 5000


def stroke(images: Tensor) -> Tensor:
    """Width of the stroke in pixels, (N,), of images (N, 1, H, W) from 0 to 1: 2 · ink / edge.

    Ink is the sum of the pixels, and the edge the sum of the gradient's length. A stroke of width w and length L >> w
    has w L of ink and 2 L of edge, both sides, so the rule says w, sharp or blurred.
    """
    padded = torch.nn.functional.pad(images[:, 0], (1, 1, 1, 1))
    down = padded[:, 1:, :-1] - padded[:, :-1, :-1]
    across = padded[:, :-1, 1:] - padded[:, :-1, :-1]
    edge = (down.square() + across.square()).sqrt().sum((-2, -1))
    return 2 * images.sum((-3, -2, -1)) / edge.clamp(min=1e-6)


def width(images: Tensor) -> Tensor:
    """Width of the character in pixels, (N,): the standard deviation of the ink's columns, times √12.

    For ink that is spread evenly over w columns it is w, up to the pixel's own width.
    """
    columns = images.sum((-3, -2))  # (N, W)
    mass = columns / columns.sum(-1, keepdim=True).clamp(min=1e-6)
    place = torch.arange(columns.shape[-1], dtype=mass.dtype)
    center = (mass * place).sum(-1, keepdim=True)
    return (12 * (mass * (place - center).square()).sum(-1)).sqrt()


def measured(dataset: Dataset) -> Dataset:
    """The data set with ``stroke`` and ``width`` as further factors."""
    blocks = [
        dataset.batch(torch.arange(start, min(start + _CHUNK, len(dataset)))).x
        for start in range(0, len(dataset), _CHUNK)
    ]
    found = {
        name: torch.cat([rule(block) for block in blocks])
        for name, rule in ((STROKE, stroke), (WIDTH, width))
    }
    factors = {name: Factor(name, "continuous", values.float()) for name, values in found.items()}
    return Dataset(
        dataset.name, dataset.x, dataset.ids, {**dataset.factors, **factors}, dataset.splits, dataset.licence
    )
