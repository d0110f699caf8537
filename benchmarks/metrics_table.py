"""Seconds of all scores of one set of codes with their intervals, on both cores: ``unknot.metrics.table``.

10,000 items, 10 codes and 5 factors as many-valued as dSprites' (3, 6, 40, 32, 32): five codes are a factor each and
noise, five are noise.

    python -m benchmarks metrics_table
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from benchmarks.row import row
from unknot.metrics.table import table

ITEMS, VALUES, CODES = 10_000, (3, 6, 40, 32, 32), 10
GOAL = 60.0  # seconds on two cores


def run() -> list[dict[str, Any]]:
    """One row: start to end, with the usual eight half-samples."""
    codes, factors = made()
    start = time.perf_counter()
    table(codes, factors, jobs=min(os.cpu_count() or 1, 2))
    name = f"all metrics, {ITEMS:,} items x {CODES} codes, {len(VALUES)} factors"
    return [row(name, time.perf_counter() - start, "s", GOAL)]


def made(items: int = ITEMS) -> tuple[np.ndarray, np.ndarray]:
    """Codes ``(N, 10)`` and factors ``(N, 5)``."""
    draw = np.random.default_rng(0)
    factors = np.stack([draw.integers(0, size, items) for size in VALUES], 1)
    noise = draw.standard_normal((items, CODES))
    noise[:, : len(VALUES)] = factors + 0.3 * noise[:, : len(VALUES)]
    return noise, factors
