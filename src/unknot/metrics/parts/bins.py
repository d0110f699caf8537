"""Numbers as categories: bins of equal width or of equal mass."""

from __future__ import annotations

import numpy as np

from unknot.metrics.parts.columns import Columns


def equal_width(values: np.ndarray, bins: int) -> np.ndarray:
    """Bin of each value, ``bins`` of one width between the smallest and the largest.

    >>> equal_width(np.array([0.0, 0.4, 0.6, 1.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    edges = np.histogram_bin_edges(values, bins)
    return np.digitize(values, edges[:-1]) - 1


def equal_mass(values: np.ndarray, bins: int) -> np.ndarray:
    """Bin of each value, with about as many values in each; equal values share a bin.

    >>> equal_mass(np.array([0.0, 1.0, 2.0, 100.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    inner = np.quantile(values, np.arange(1, bins) / bins)
    return np.searchsorted(np.unique(inner), values, side="right")


def categories(columns: Columns, bins: int, mass: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Columns as integers ``(N, D)`` and how many values each may take ``(D,)``; categories stay as they are."""
    cut = equal_mass if mass else equal_width
    index = [
        values.astype(int) if size else cut(values, bins)
        for values, size in zip(columns.values.T, columns.sizes, strict=True)
    ]
    return np.stack(index, 1), np.array([size or bins for size in columns.sizes])
