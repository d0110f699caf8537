"""Images as packed bits, for tests."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from unknot.data.stored_items import PackedBits


def packed(images: Tensor) -> PackedBits:
    """Images `(N, C, H, W)` at one bit a pixel; every pixel other than 0 counts as 1."""
    rows = images.reshape(len(images), -1).numpy() != 0
    return PackedBits(torch.from_numpy(np.packbits(rows, axis=1)), images.shape[1:])
