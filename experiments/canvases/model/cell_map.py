"""CellMap: features of a canvas on a grid of cells; and the output of an encoder of places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from unknot.core.evidence import Partial
from unknot.core.trace import Trace


@dataclass(frozen=True)
class Looked:
    """Logits of the counts, ``(..., B, N)``, and a trace for each object with the site ``place``."""

    count: Tensor
    looks: list[Trace]


class Looks(Protocol):
    """An encoder of places from canvases ``(B, 1, C, C)`` and the known places from left to right."""

    def __call__(self, x: Tensor, known: Sequence[Partial | None], samples: int | None) -> Looked: ...


STRIDE = 4  # pixels between cells
_SYMMETRIES = 8  # of the square


class CellMap(nn.Module):
    """Convolutions from a canvas ``(B, 1, C, C)`` to cells four pixels apart, row by row: ``(B, cells, D)``.

    In training every batch is transformed by one of the eight symmetries of the square, and its features are
    transformed back. In evaluation the predictions of all eight views are averaged. Directions that are predicted from
    features are transformed back by the matrix that is returned with them.
    """

    def __init__(self, canvas: int, features: int = 48) -> None:
        super().__init__()
        self.features, self.views = features, _SYMMETRIES
        missing = -canvas % STRIDE  # a symmetric margin makes the cells symmetric
        self.margin = (missing // 2, missing - missing // 2)
        self.side = (canvas + missing) // STRIDE
        half = features // 2
        layers: list[nn.Module] = [_block(1, half // 2, 4, stride=2, padding=1)]
        layers.append(_block(half // 2, half, 4, stride=2, padding=1))
        layers.append(_block(half, features, 3, padding=1))
        layers.append(_block(features, features, 3, padding=2, dilation=2))
        # channels last: convolutions with batch norm take two thirds of the time on a CPU
        self.network = nn.Sequential(*layers).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        middles = (torch.arange(self.side) * STRIDE + STRIDE / 2 - self.margin[0]) / canvas * 2 - 1
        y, x = torch.meshgrid(middles, middles, indexing="ij")
        self.register_buffer("centers", torch.stack([x, y], -1).flatten(0, 1), persistent=False)
        self.centers: Tensor  # (cells, 2): x and y from -1 to 1
        self.pitch = 2 * STRIDE / canvas

    def forward(self, x: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return for each view features ``(B, cells, D)`` and the matrix ``(2, 2)`` that transforms directions back."""
        before, after = self.margin
        padded = pad(x, (before, after, before, after))
        views = []
        for symmetry in [int(torch.randint(_SYMMETRIES, ()))] if self.training else range(self.views):
            seen = turned_back(self.network(turned(padded, symmetry)), symmetry)
            views.append((seen.flatten(-2).mT, directions_back(symmetry, x)))
        return views

    @contextmanager
    def seen_once(self) -> Iterator[None]:
        """Use one view: for values that do not depend on the features."""
        self.views = 1
        try:
            yield
        finally:
            self.views = _SYMMETRIES

    def nearest(self, place: Tensor) -> Tensor:
        """Return the cell nearest to each place ``(B, 2 or 3)``: ``(B,)``."""
        return (place[:, None, :2] - self.centers).square().sum(-1).argmin(-1)


def over_views(outputs: Sequence[Tensor]) -> Tensor:
    """Return the mean over views."""
    return outputs[0] if len(outputs) == 1 else torch.stack(list(outputs)).mean(0)


def turned(images: Tensor, symmetry: int) -> Tensor:
    """Apply one of the eight symmetries of the square: flip x (bit 1) and y (bit 2), then transpose (bit 4)."""
    images = images.flip([axis for bit, axis in ((1, -1), (2, -2)) if symmetry & bit])
    return images.mT if symmetry & 4 else images


def turned_back(images: Tensor, symmetry: int) -> Tensor:
    """Apply the inverse of :func:`turned`."""
    images = images.mT if symmetry & 4 else images
    return images.flip([axis for bit, axis in ((1, -1), (2, -2)) if symmetry & bit])


def directions_back(symmetry: int, like: Tensor) -> Tensor:
    """Return the matrix M for which (x, y) @ M is the direction before :func:`turned`."""
    signs = like.new_tensor([-1.0 if symmetry & 1 else 1.0, -1.0 if symmetry & 2 else 1.0])
    matrix = torch.eye(2, dtype=like.dtype, device=like.device) * signs
    return matrix.flip(0) if symmetry & 4 else matrix


def _block(inputs: int, outputs: int, kernel: int, **options: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, **options), nn.BatchNorm2d(outputs), nn.ReLU())  # type: ignore[arg-type]
