"""Codes as the matrix that linear models and trees take, and rows to train and to test on."""

from __future__ import annotations

import numpy as np

from unknot.metrics.parts.columns import Columns


def one_hot(codes: Columns) -> tuple[np.ndarray, np.ndarray]:
    """``(N, P)`` with an indicator for each category, and the code ``(P,)`` that each of these columns belongs to."""
    parts, owner = [], []
    for d, size in enumerate(codes.sizes):
        values = codes.values[:, d]
        parts.append(np.eye(size)[values.astype(int)] if size else values[:, None])
        owner += [d] * max(size, 1)
    return np.concatenate(parts, 1), np.array(owner)


def standardize(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both by the mean and the spread of the first; a constant column becomes 0."""
    mean, spread = train.mean(0), train.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    return (train - mean) / spread, (test - mean) / spread


def split(rows: int, shares: tuple[float, ...], seed: int | None) -> list[np.ndarray]:
    """Row numbers, shuffled, in parts of these shares; no part with a positive share is empty.

    >>> [len(part) for part in split(10, (0.8, 0.1, 0.1), 0)]
    [8, 1, 1]
    """
    order = np.random.default_rng(seed).permutation(rows)
    ends = np.round(np.cumsum(shares) * rows).astype(int)
    return np.split(order, ends[:-1])


def whole_or_split(rows: int, train_share: float, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train and to test on; the same ones if all are trained on."""
    if train_share >= 1:
        return np.arange(rows), np.arange(rows)
    train, test = split(rows, (train_share, 1 - train_share), seed)
    return train, test
