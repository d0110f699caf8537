"""What the benchmarks of a training step share: steps that take turns, so that a busy moment hits all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.row import row

Step = Callable[[], object]


def medians(steps: Sequence[Step], rounds: int, warm: int) -> list[float]:
    """Median seconds of every step over ``rounds`` turns, after ``warm`` turns that do not count."""
    times: list[list[float]] = [[] for _ in steps]
    for _ in range(warm + rounds):
        for step, record in zip(steps, times, strict=True):
            start = time.perf_counter()
            step()
            record.append(time.perf_counter() - start)
    return [statistics.median(record[warm:]) for record in times]


def training_step(module: nn.Module, loss: Callable[..., Tensor], *inputs: Tensor) -> Step:
    """Forward, backward and Adam, with an optimizer of its own."""
    optimizer = torch.optim.Adam(module.parameters(), 1e-3, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss(*inputs).backward()
        optimizer.step()

    return step


def ratio_rows(
    name: str, named: tuple[str, str], steps: tuple[Step, Step], goal: float
) -> list[dict[str, Any]]:
    """The times of two steps, and the first as a multiple of the second."""
    first, second = medians(steps, rounds=120, warm=12)
    return [
        row(f"{name}: {named[0]}", first * 1e3, "ms"),
        row(f"{name}: {named[1]}", second * 1e3, "ms"),
        row(f"{name}: ratio", first / second, "x", goal),
    ]
