"""Seconds of a default fit on a table with few labels: ``StructuredVAE().fit`` on both cores, start to end.

1,000 rows of correlated numbers, two classes, 100 labels; 30 columns and 500. Beside it scikit-learn's logistic
regression on the same labels.

    python -m benchmarks table_fit
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from benchmarks.row import row
from unknot import StructuredVAE

ROWS, LABELS = 1000, 100
GOALS = {30: 15.0, 500: 60.0}  # seconds by columns


def run() -> list[dict[str, Any]]:
    """One row for each number of columns and method."""
    before = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    try:
        return [row for columns, goal in GOALS.items() for row in _rows(columns, goal)]
    finally:
        torch.set_num_threads(before)


def _rows(columns: int, goal: float) -> list[dict[str, Any]]:
    x, y = _table(columns)
    name = f"{ROWS:,} rows x {columns} columns, {LABELS} labels"
    ours = _seconds(lambda: StructuredVAE(verbose=False).fit(x, y))
    line = _seconds(lambda: LogisticRegression(max_iter=1000).fit(x[:LABELS], y[:LABELS]))
    return [
        row(f"default fit, {name}", ours, "s", goal),
        row(f"logistic regression, {name}", line, "s"),
    ]


def _table(columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that a few hidden causes and the class make, and the class where it is known, else -1."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, ROWS)
    causes = draw.normal(size=(ROWS, 8)) + y[:, None] * draw.normal(size=8)
    x = causes @ draw.normal(size=(8, columns)) + draw.normal(size=(ROWS, columns))
    return x, np.where(np.arange(ROWS) < LABELS, y, -1)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
