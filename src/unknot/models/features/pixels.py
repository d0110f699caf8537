"""Pixels: the features of pictures, principal components of small pictures and of their gradient histograms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, avg_pool2d

from unknot.data.dataset import Dataset
from unknot.models.features.features import Features, register_features

_COMPONENTS = 50  # of each part, at most
_MOST_PICTURES = 5000  # that the components are learned from
_AT_ONCE = 1 << 24  # numbers
_SMALL = 16  # pixels along a side of the small pictures
_FINE = 32  # pixels along a side of the pictures whose gradients count
_CELLS, _ORIENTATIONS = 4, 9
_FLAT = 0.07  # of the pixels' standard deviation; weaker gradients are noise


@register_features
class Pixels(Features):
    """Principal components of pictures, of their pixels and of histograms of their gradients (HOG).

    Pixels are averaged to at most 16 along a side. Gradients are those of pictures of at most 32 pixels along a side:
    nine orientations in overlapping cells, 7 x 7 of them, divided by the mean strength around the cell, square roots
    taken (Dalal and Triggs 2005). Each part has the components of all pictures, at most 50, in their own scale: a
    component with little variance stays small. Both parts have the same total variance.

    Parameters
    ----------
    shape : sequence of int
        The shape ``(C, H, W)`` of a picture.
    components : sequence of int
        The number of components of pixels and of gradients.
    """

    name: ClassVar[str] = "pixels"

    def __init__(self, shape: Sequence[int], components: Sequence[int]) -> None:
        super().__init__()
        self.shape, self.components = [int(s) for s in shape], [int(c) for c in components]
        self.register_buffer("spread", torch.ones(()))
        self.spread: Tensor
        sizes = (_count_of_pixels(self.shape), _ORIENTATIONS * (2 * _CELLS - 1) ** 2)
        self.parts = nn.ModuleList(_Components(n, c) for n, c in zip(sizes, self.components, strict=True))

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        return len(data.item_shape) == 3 and not data.table

    @classmethod
    def for_data(cls, data: Dataset) -> Pixels:
        count = min(len(data), _MOST_PICTURES)
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))[:count].sort().values
        pixels = _count_of_pixels(data.item_shape)
        gradients = _ORIENTATIONS * (2 * _CELLS - 1) ** 2
        most = max(1, count - 1)
        made = cls(data.item_shape, [min(_COMPONENTS, n, most) for n in (pixels, gradients)])
        step = max(1, _AT_ONCE // data.item_shape.numel())

        def pictures() -> Iterator[Tensor]:
            for rows in order.split(step):
                yield data.batch(rows.to(data.device)).x.cpu()

        deviations = [float(x.std()) for x in pictures()]
        made.spread.fill_(max(sum(deviations) / len(deviations), 1e-6))
        for part, describe in zip(made.parts, made._descriptions(), strict=True):
            assert isinstance(part, _Components)
            part.learn(torch.cat([describe(x) for x in pictures()]))
        return made

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"shape": self.shape, "components": self.components}

    @property
    def size(self) -> int:
        return sum(self.components)

    def forward(self, x: Tensor) -> Tensor:
        parts = zip(self.parts, self._descriptions(), strict=True)
        return torch.cat([part(describe(x)) for part, describe in parts], 1)

    def _descriptions(self) -> tuple[Callable[[Tensor], Tensor], ...]:
        """Return what the components are of: functions from pictures ``(B, C, H, W)`` to numbers ``(B, P)``."""
        return (
            lambda x: _at_most(x, _SMALL).flatten(1),
            lambda x: gradient_histograms(_at_most(x, _FINE) / self.spread),
        )


class _Components(nn.Module):
    """The first principal components of vectors, ``(B, P) -> (B, K)``, scaled by one number to a total variance of 1.

    Parameters
    ----------
    inputs, outputs : int
        P and K.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("center", torch.zeros(inputs))
        self.register_buffer("directions", torch.zeros(inputs, outputs))
        self.center: Tensor
        self.directions: Tensor

    def learn(self, rows: Tensor) -> None:
        center = rows.mean(0)
        centered = (rows - center).double()  # (N, P)
        variances, vectors = torch.linalg.eigh(centered.T @ centered / len(rows))  # ascending
        kept = self.directions.shape[1]
        total = float(variances[-kept:].clamp_min(0).sum())
        self.center.copy_(center)
        self.directions.copy_(vectors[:, -kept:].flip(1) / math.sqrt(max(total, 1e-12)))

    def forward(self, rows: Tensor) -> Tensor:
        return (rows - self.center) @ self.directions


def gradient_histograms(x: Tensor) -> Tensor:
    """Return histograms of gradients ``(B, 9 * 7 * 7)`` of pictures ``(B, C, H, W)`` with a spread of 1."""
    right, down = torch.zeros_like(x), torch.zeros_like(x)
    right[..., 1:-1] = x[..., 2:] - x[..., :-2]
    down[..., 1:-1, :] = x[..., 2:, :] - x[..., :-2, :]
    strength = (right**2 + down**2).sqrt()
    strongest = strength.argmax(1, keepdim=True)  # of the colors
    strength, right, down = (g.gather(1, strongest) for g in (strength, right, down))  # (B, 1, H, W)
    place = (
        torch.atan2(down, right) % math.pi / math.pi * _ORIENTATIONS
    )  # a direction and its opposite are one
    below = place.floor()
    share = place - below  # of the next orientation
    first = below.long() % _ORIENTATIONS
    cells = x.new_zeros(len(x), _ORIENTATIONS, *x.shape[-2:])
    cells.scatter_add_(1, first, strength * (1 - share))
    cells.scatter_add_(1, (first + 1) % _ORIENTATIONS, strength * share)
    cells = avg_pool2d(adaptive_avg_pool2d(cells, 2 * _CELLS), 2, stride=1)  # (B, 9, 7, 7)
    energy = cells.square().sum(1, keepdim=True).sqrt()
    around = avg_pool2d(energy, 3, stride=1, padding=1, count_include_pad=False)
    return (cells / (around + _FLAT)).clamp_max(3.0).sqrt().flatten(1)


def _at_most(x: Tensor, side: int) -> Tensor:
    """Return pictures averaged to at most ``side`` pixels along a side."""
    height, width = x.shape[-2:]
    smaller = (min(height, side), min(width, side))
    return x if smaller == (height, width) else adaptive_avg_pool2d(x, smaller)


def _count_of_pixels(shape: Sequence[int]) -> int:
    colors, height, width = shape
    return colors * min(height, _SMALL) * min(width, _SMALL)
