"""PackedBits: black and white images at one bit a pixel, unpacked when indexed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from unknot.errors import DataError


class PackedBits:
    """Binary images ``(N, C, H, W)`` held as bits: dSprites takes 378 MB instead of 3 GB.

    It stands in for the tensor ``Dataset.x``: ``len``, ``shape``, ``device``, ``to``, indexing by a tensor,
    a list, a slice or a number. Indexing returns uint8 images with the values 0 and 255, so they read
    like any other image.

    * ``bits``: uint8 ``(N, ceil(pixels / 8))``, the first pixel in the highest bit of the first byte;
    * ``item_shape``: ``(C, H, W)``.
    """

    def __init__(self, bits: Tensor, item_shape: Sequence[int]) -> None:
        self.bits = bits
        self.item_shape = tuple(item_shape)
        self.pixels = int(np.prod(self.item_shape))
        if bits.dtype != torch.uint8 or bits.ndim != 2 or bits.shape[1] != -(-self.pixels // 8):
            raise DataError(
                f"packed images of shape {self.item_shape} need uint8 bits (N, {-(-self.pixels // 8)}), "
                f"got {bits.dtype} {tuple(bits.shape)}."
            )
        # Entry v holds the eight pixels of the byte v, eight bytes read as one int64: a single look-up per
        # byte is faster than shifting and masking, and runs on any device.
        pixels = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)  # (256, 8)
        self._table = torch.from_numpy(pixels).view(torch.int64)[:, 0].contiguous().to(bits.device)

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def shape(self) -> torch.Size:
        return torch.Size((len(self), *self.item_shape))

    @property
    def dtype(self) -> torch.dtype:
        return torch.uint8

    @property
    def device(self) -> torch.device:
        return self.bits.device

    @property
    def nbytes(self) -> int:
        return self.bits.nbytes

    def to(self, device: torch.device | str) -> PackedBits:
        """The same images on another ``device``."""
        return PackedBits(self.bits.to(device), self.item_shape)

    def select(self, rows: Tensor) -> PackedBits:
        """The images of the given ``rows``, still packed."""
        return PackedBits(self.bits.index_select(0, rows), self.item_shape)

    def floats(self, rows: Tensor) -> Tensor:
        """The images of the given ``rows`` as float32 0 and 1, ``(B, C, H, W)``: what a batch holds."""
        return self._unpack(rows).float()

    def __getitem__(self, index: int | slice | Sequence[int] | Tensor) -> Tensor:
        rows = torch.arange(len(self), device=self.device)[index]
        images = self._unpack(rows.reshape(-1)).mul_(255)
        return images[0] if rows.ndim == 0 else images

    def _unpack(self, rows: Tensor) -> Tensor:
        bits = self.bits.index_select(0, rows)  # (B, bytes)
        eights = self._table.index_select(0, bits.reshape(-1).int())  # (B * bytes,) int64
        pixels = eights.view(torch.uint8).reshape(len(rows), -1)  # (B, bytes * 8)
        return pixels[:, : self.pixels].reshape(-1, *self.item_shape)

    def __repr__(self) -> str:
        return f"PackedBits(shape={tuple(self.shape)}, {self.nbytes / 1e6:.1f} MB)"
