"""What the training loop costs on top of the steps themselves.

An epoch of the 784-256 class-and-style model on data of MNIST's size, B = 256, by :func:`unknot.train.fit` with a
run folder, against the same steps in a bare loop: batch, forward, objective, backward, fused Adam. After every
step of fit comes one bare step, so that both see the same machine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

import unknot
from benchmarks.row import row
from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.objectives.terms import Terms
from unknot.train import RunFolder, TrainConfig, fit

ITEMS, BATCH, GOAL = 60_000, 256, 1.05


class ClassAndStyle(nn.Module):
    """S17's model of digits: class y and style z from one hidden layer of 256, and back."""

    def __init__(self, hidden: int = 256, style: int = 50) -> None:
        super().__init__()
        self.h = nn.Sequential(nn.Linear(784, hidden), nn.ReLU())
        self.y = nn.Linear(hidden, 10)
        self.mean, self.scale = nn.Linear(hidden + 10, style), nn.Linear(hidden + 10, style)
        self.x = nn.Sequential(nn.Linear(10 + style, hidden), nn.ReLU(), nn.Linear(hidden, 784))

    def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
        pixels = batch.x.flatten(1)
        q, p = unknot.Trace(), unknot.Trace()
        h = self.h(pixels)
        labels = unknot.partial(batch["digit"], batch.known["digit"])
        y = q.concrete(self.y(h), 0.66, value=labels, name="y")
        hy = unknot.cat([h, y], -1)
        q.normal(self.mean(hy), softplus(self.scale(hy)) + 1e-3, name="z")
        y = p.concrete(torch.zeros(10), 0.66, value=q["y"], name="y")
        z = p.normal(0.0, 1.0, value=q["z"], name="z")
        p.loss(_bce, self.x(unknot.cat([y, z], -1)), pixels, name="x")
        return q, p


def _bce(logits: Tensor, x: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(logits, x, reduction="none")


def _objective(q: unknot.Trace, p: unknot.Trace) -> Terms:
    prior = p.log_prob("y", "z") - q.log_prob()
    return Terms({"reconstruction": p["x"].log_prob, "divergence": prior})


def _data() -> Dataset:
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (ITEMS, 28, 28), generator=generator, dtype=torch.uint8)
    labels = [i % 10 if i < 100 else -1 for i in range(ITEMS)]
    return from_arrays(
        images, {"digit": labels}, kinds={"digit": "categorical"}, classes={"digit": range(10)}
    )


def _bare_steps(data: Dataset) -> Iterator[None]:
    model = ClassAndStyle()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    while True:
        for batch in data.batches(BATCH, drop_last=True):
            terms = _objective(*model(batch))
            optimizer.zero_grad()
            terms.loss.backward()
            optimizer.step()
            yield


def run() -> list[dict[str, Any]]:
    """One row: time of an epoch by fit, as a multiple of the bare loop's."""
    data = _data()
    bare = _bare_steps(data)
    for _ in range(20):
        next(bare)
    times = {"fit": 0.0, "bare": 0.0}
    last = 0.0

    def alternate(step: int, record: dict[str, Any] | None) -> None:
        nonlocal last
        now = time.perf_counter()
        if last:  # the first step also pays for setting up
            times["fit"] += now - last
            next(bare)
            times["bare"] += time.perf_counter() - now
        last = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(objective=_objective, epochs=1, batch_size=BATCH)
        fit(ClassAndStyle(), data, config, run=RunFolder.create(Path(folder) / "run"), on_step=alternate)
    ratio = times["fit"] / times["bare"]
    name = "an epoch by unknot.train.fit / bare loop (784-256, B=256)"
    return [row(name, ratio, "x", GOAL)]
