"""Items that are not held as a tensor: StoredItems stay in a file, PackedBits are black and white images as bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from unknot.data.float32_precision import plain_array
from unknot.errors import DataError


class PackedBits:
    """Binary images ``(N, C, H, W)`` stored as bits: dSprites takes 378 MB instead of 3 GB.

    It has the interface of the tensor ``Dataset.x``: ``len``, ``shape``, ``device``, ``to``, and indexing, which
    returns uint8 images of the values 0 and 255.

    Parameters
    ----------
    bits : Tensor of uint8, shape (N, ceil(pixels / 8))
        The first pixel is the highest bit of the first byte.
    item_shape : sequence of int
        ``(C, H, W)``.
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
        """Return the images on another ``device``."""
        return PackedBits(self.bits.to(device), self.item_shape)

    def select(self, rows: Tensor) -> PackedBits:
        """Return the images of the given ``rows``, still packed."""
        return PackedBits(self.bits.index_select(0, rows), self.item_shape)

    def floats(self, rows: Tensor) -> Tensor:
        """Return the images of the given ``rows`` as float32 0 and 1, ``(B, C, H, W)``."""
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


_BLOCK = 1 << 24  # bytes that are looked at together


class Stored(Protocol):
    """What is indexed by rows like an array: an array mapped from a file, or rows made from one."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __getitem__(self, rows: Any) -> Any: ...


class StoredItems:
    """Items ``(N, ...)`` of one or several concatenated arrays in files.

    It has the interface of the tensor ``Dataset.x``: ``len``, ``shape``, ``device``, ``to``, indexing. Items are read
    for each batch. Their values are those of :func:`~unknot.data.float32_precision.plain_array`, the same as in memory.

    Parameters
    ----------
    parts : sequence of arrays
        Of the same item shape and type.
    rows : Tensor of int64, optional
        Which rows, and in which order; default: all.
    channel : bool, default=False
        Whether gray images ``(N, H, W)`` get an axis of colors.
    device : torch.device or str, default="cpu"
        Where batches are made.
    where : str, default="data"
        The file, for messages.
    """

    def __init__(
        self,
        parts: Sequence[Stored],
        rows: Tensor | None = None,
        *,
        channel: bool = False,
        device: torch.device | str = "cpu",
        where: str = "data",
    ) -> None:
        self.parts, self.channel, self.device, self.where = tuple(parts), channel, torch.device(device), where
        self._starts = np.cumsum([0, *(part.shape[0] for part in self.parts)])
        self._rows = torch.arange(int(self._starts[-1])) if rows is None else rows.cpu()
        self.dtype = self._read(np.zeros(0, dtype=np.int64)).dtype

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def shape(self) -> torch.Size:
        axes = (1,) if self.channel else ()
        return torch.Size((len(self), *axes, *self.parts[0].shape[1:]))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.shape.numel() * self.dtype.itemsize

    def to(self, device: torch.device | str) -> StoredItems:
        """Return the items with batches on another ``device``."""
        return StoredItems(self.parts, self._rows, channel=self.channel, device=device, where=self.where)

    def select(self, rows: Tensor) -> StoredItems:
        """Return the items of the given ``rows``, still in their file."""
        chosen = self._rows.index_select(0, rows.cpu())
        return StoredItems(self.parts, chosen, channel=self.channel, device=self.device, where=self.where)

    def with_channel(self) -> StoredItems:
        """Return gray images with an axis of colors."""
        return StoredItems(self.parts, self._rows, channel=True, device=self.device, where=self.where)

    def floats(self, rows: Tensor) -> Tensor:
        """Return the items of the given ``rows`` as float32, uint8 images scaled to [0, 1]."""
        items = self[rows]
        return items.float().div_(255) if items.dtype == torch.uint8 else items.float()

    def __getitem__(self, index: int | slice | Sequence[int] | Tensor) -> Tensor:
        rows = self._rows[index.cpu() if isinstance(index, Tensor) else index]
        items = self._read(rows.reshape(-1).numpy())
        items = (items[:, None] if self.channel else items).to(self.device)
        return items[0] if rows.ndim == 0 else items

    def blocks(self) -> Iterator[tuple[int, Tensor]]:
        """Yield blocks of items in order, each with the number of its first row."""
        step = max(1, _BLOCK // max(1, self.shape[1:].numel() * self.dtype.itemsize))
        for start in range(0, len(self), step):
            yield start, self[start : start + step]

    def columns(self, start: int, stop: int) -> Tensor:
        """Return some columns of all rows ``(N, C)``."""
        return torch.cat([block[:, start:stop] for _, block in self.blocks()])

    def extremes(self) -> Tensor:
        """Return the smallest and the largest value, with as many axes as the items: ``(2, 1, ...)``."""
        ends = [torch.stack(block.aminmax()) for _, block in self.blocks()]
        both = torch.stack([torch.stack(ends).amin(), torch.stack(ends).amax()])
        return both.reshape(2, *(1 for _ in self.shape[1:]))

    def _read(self, rows: np.ndarray) -> Tensor:
        """Read rows by their numbers, in that order."""
        if len(self.parts) == 1:
            return self._tensor(self.parts[0][_plainest(rows)])
        which = np.searchsorted(self._starts, rows, side="right") - 1
        made: Tensor | None = None
        for i, part in enumerate(self.parts):
            here = which == i
            read = self._tensor(part[rows[here] - self._starts[i]])
            if made is None:
                made = torch.empty(len(rows), *read.shape[1:], dtype=read.dtype)
            made[torch.from_numpy(here)] = read
        assert made is not None
        return made

    def _tensor(self, read: np.ndarray) -> Tensor:
        plain = plain_array(read, self.where)
        return torch.from_numpy(plain if plain.flags.writeable else plain.copy())

    def __repr__(self) -> str:
        return f"StoredItems(shape={tuple(self.shape)}, {self.nbytes / 1e6:.1f} MB in a file)"


def _plainest(rows: np.ndarray) -> Any:
    """Return consecutive rows as a slice, which is read faster than a list of numbers."""
    if len(rows) > 1 and rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows
