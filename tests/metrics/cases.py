"""Codes whose scores are known: factors in all combinations, equally often, so that independence is exact."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np

SIZES = (2, 3, 5)
REPEATS = 30


def grid(*sizes: int, repeats: int = REPEATS) -> np.ndarray:
    """Every combination of factors of these sizes, each as often, in a random order."""
    rows = np.stack(np.meshgrid(*[np.arange(size) for size in sizes], indexing="ij"), -1).reshape(
        -1, len(sizes)
    )
    return np.random.default_rng(0).permutation(np.repeat(rows, repeats, 0))


FACTORS = grid(*SIZES)  # (900, 3)
PERFECT = FACTORS.astype(float)
DUPLICATED = np.concatenate([PERFECT, PERFECT], 1)
_WITH_NOISE = grid(*SIZES, 4, repeats=8)
USELESS_FACTORS, USELESS = _WITH_NOISE[:, :3], _WITH_NOISE[:, 3:].astype(float)  # exactly independent
NOISY = PERFECT + 0.4 * np.random.default_rng(1).standard_normal(PERFECT.shape)
_SCALED = PERFECT / PERFECT.std(0)
_TURN = np.eye(3) - 2 / 3  # a reflection: every code has a part of every factor
ROTATED = _SCALED @ _TURN


def golden() -> tuple[np.ndarray, np.ndarray]:
    """The codes and factors for which reference codes were run."""
    rng = np.random.default_rng(0)
    s = np.stack([rng.integers(0, k, 5000) for k in (3, 6, 10)], 1)
    e = rng.standard_normal((5000, 5))
    z = [s[:, 0], s[:, 1], s[:, 2] + 0.5 * s[:, 0], np.zeros(5000), s[:, 1] - s[:, 2]]
    return np.stack(z, 1) + e * np.array([0.3, 0.3, 0.3, 0.01, 0.3]), s


# --- slow and obvious twins of entropies, from dictionaries of counts ---


def slow_entropy(values: list) -> float:
    count = Counter(values)
    return -sum(n / len(values) * log(n / len(values)) for n in count.values())


def slow_information(a: list, b: list) -> float:
    both, first, second, n = Counter(zip(a, b, strict=True)), Counter(a), Counter(b), len(a)
    return sum(m / n * log(m * n / (first[x] * second[y])) for (x, y), m in both.items())


def slow_bin(values: np.ndarray, bins: int) -> list[int]:
    low, high = float(min(values)), float(max(values))
    return [min(int((float(v) - low) / (high - low) * bins), bins - 1) if high > low else 0 for v in values]


def slow_matrix(codes: np.ndarray, factors: np.ndarray, bins: int) -> list[list[float]]:
    """Information of each code (rows) about each factor."""
    cut = [slow_bin(column, bins) for column in codes.T]
    return [[slow_information(c, list(v)) for v in factors.T] for c in cut]
