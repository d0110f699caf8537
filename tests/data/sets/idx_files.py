"""Small idx files in the shape of MNIST, for tests."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np


def idx_bytes(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_set(folder: Path, suffix: str) -> dict[str, np.ndarray]:
    """Seven train and three test images in the four files."""
    rng = np.random.default_rng(0)
    arrays = {}
    for split, size in (("train", 7), ("t10k", 3)):
        arrays[f"{split}-images-idx3-ubyte"] = rng.integers(0, 256, (size, 28, 28), dtype=np.uint8)
        arrays[f"{split}-labels-idx1-ubyte"] = rng.integers(0, 10, size, dtype=np.uint8)
    for name, array in arrays.items():
        content = idx_bytes(array)
        (folder / (name + suffix)).write_bytes(gzip.compress(content) if suffix else content)
    return arrays
