"""The plain counter learns to count."""

from __future__ import annotations

import torch

from experiments.canvases.canvas_counter import counter_accuracy
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor


def squares(n: int) -> Dataset:
    """Canvases with one to three bright squares."""
    count = torch.arange(n) % 3 + 1
    x = torch.zeros(n, 1, 16, 16)
    for item, number in enumerate(count.tolist()):
        for k in range(number):
            x[item, 0, 1:5, 1 + 5 * k : 5 + 5 * k] = 1
    return Dataset("squares", x, torch.arange(n), {"count": Factor("count", "count", count)})


def test_it_learns_from_the_labeled_canvases() -> None:
    train = {"steps": 60, "batch_size": 16, "learning_rate": 1e-2, "objective": "supervised"}
    assert counter_accuracy(squares(48), squares(9), train, seed=0) > 90
