"""CellMap: a canvas as a grid of cells, each with features of what lies around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

STRIDE = 4  # pixels from cell to cell
_SYMMETRIES = 8  # of the square


class CellMap(nn.Module):
    """Convolutions from a canvas ``(B, 1, C, C)`` to cells four pixels apart, row by row: ``(B, cells, D)``.

    In training every batch is seen flipped or transposed, one of the square's eight symmetries, and its features
    are turned back; so the same labels teach eight times. At rest it is seen in all eight ways, and what is read off
    them is averaged, which is surer than any. Directions that are read off features, such as "a little to the right",
    are turned back by the matrix that comes with them.
    """

    def __init__(self, canvas: int, features: int = 48) -> None:
        super().__init__()
        self.features, self.views = features, _SYMMETRIES
        missing = -canvas % STRIDE  # an even margin makes the cells symmetric
        self.margin = (missing // 2, missing - missing // 2)
        self.side = (canvas + missing) // STRIDE
        half = features // 2
        layers: list[nn.Module] = [_block(1, half // 2, 4, stride=2, padding=1)]
        layers.append(_block(half // 2, half, 4, stride=2, padding=1))
        layers.append(_block(half, features, 3, padding=1))
        layers.append(_block(features, features, 3, padding=2, dilation=2))
        # colors last in memory: convolutions with batch norm take two thirds of the time on a CPU
        self.network = nn.Sequential(*layers).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        middles = (torch.arange(self.side) * STRIDE + STRIDE / 2 - self.margin[0]) / canvas * 2 - 1
        y, x = torch.meshgrid(middles, middles, indexing="ij")
        self.register_buffer("centers", torch.stack([x, y], -1).flatten(0, 1), persistent=False)
        self.centers: Tensor  # (cells, 2): x and y from -1 to 1
        self.pitch = 2 * STRIDE / canvas

    def forward(self, x: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Of each view the features ``(B, cells, D)``, and the matrix ``(2, 2)`` that turns their directions back."""
        before, after = self.margin
        padded = pad(x, (before, after, before, after))
        views = []
        for symmetry in [int(torch.randint(_SYMMETRIES, ()))] if self.training else range(self.views):
            seen = turned_back(self.network(turned(padded, symmetry)), symmetry)
            views.append((seen.flatten(-2).mT, directions_back(symmetry, x)))
        return views

    @contextmanager
    def seen_once(self) -> Iterator[None]:
        """Inside, a canvas is seen as it is alone: for values that do not depend on what is seen."""
        self.views = 1
        try:
            yield
        finally:
            self.views = _SYMMETRIES

    def nearest(self, place: Tensor) -> Tensor:
        """The cell nearest to each place ``(B, 2 or 3)``: ``(B,)``."""
        return (place[:, None, :2] - self.centers).square().sum(-1).argmin(-1)


def over_views(read: Sequence[Tensor]) -> Tensor:
    """The mean of what was read off each view."""
    return read[0] if len(read) == 1 else torch.stack(list(read)).mean(0)


def turned(images: Tensor, symmetry: int) -> Tensor:
    """One of the eight symmetries of the square: flipped sideways (1), upside down (2), then transposed (4)."""
    images = images.flip([axis for bit, axis in ((1, -1), (2, -2)) if symmetry & bit])
    return images.mT if symmetry & 4 else images


def turned_back(images: Tensor, symmetry: int) -> Tensor:
    """The inverse of :func:`turned`."""
    images = images.mT if symmetry & 4 else images
    return images.flip([axis for bit, axis in ((1, -1), (2, -2)) if symmetry & bit])


def directions_back(symmetry: int, like: Tensor) -> Tensor:
    """The matrix M for which (x, y) @ M is the direction before it was turned."""
    signs = like.new_tensor([-1.0 if symmetry & 1 else 1.0, -1.0 if symmetry & 2 else 1.0])
    matrix = torch.eye(2, dtype=like.dtype, device=like.device) * signs
    return matrix.flip(0) if symmetry & 4 else matrix


def _block(inputs: int, outputs: int, kernel: int, **options: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, **options), nn.BatchNorm2d(outputs), nn.ReLU())  # type: ignore[arg-type]
