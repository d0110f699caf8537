"""Pictures in arrays at the size that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.readers.picture_size import ORIGINAL, resize
from unknot.data.readers.read_options import ReadOptions
from unknot.data.stored_items import StoredItems


def resized_pictures(data: Dataset, options: ReadOptions) -> Dataset:
    """Return a data set whose pictures have one size (:meth:`ReadOptions.picture_size`); other data unchanged.

    Pictures are items with three axes that are uint8 or from 0 to 1. New ones are resized if those of ``options.like``
    were; otherwise another shape than theirs is a mistake, which is refused elsewhere.
    """
    kept = options.size == ORIGINAL if options.like is None else not options.like.resized_from
    if kept or not _are_pictures(data):
        return data
    height, width = data.item_shape[1:]
    size = options.picture_size([(height, width)])
    if not size.resized_from:
        return data
    assert isinstance(data.x, Tensor | StoredItems)
    parts = []
    for block in _blocks(data.x):
        last = np.moveaxis(block, 1, -1)  # (n, H, W, C)
        made = np.stack([resize(picture, size.height, size.width) for picture in last])
        parts.append(np.moveaxis(made, -1, 1))
    x = torch.from_numpy(np.ascontiguousarray(np.concatenate(parts)))
    return replace(data, x=x, resized_from=size.resized_from)


def _are_pictures(data: Dataset) -> bool:
    x = data.x
    if not isinstance(x, Tensor | StoredItems) or len(data.item_shape) != 3 or not len(x):
        return False
    if x.dtype == torch.uint8:
        return True
    low, high = (x if isinstance(x, Tensor) else x.extremes()).aminmax()
    return x.dtype.is_floating_point and float(low) >= 0 and float(high) <= 1


def _blocks(x: Tensor | StoredItems) -> Iterator[np.ndarray]:
    """Yield blocks of items; of items in a file one after the other."""
    if isinstance(x, Tensor):
        yield x.cpu().numpy()
        return
    for _, block in x.blocks():
        yield block.numpy()
