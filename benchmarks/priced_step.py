"""A semi-supervised step with a price on the correlation between class and style, beside the step without.

E19's (A) within S17's Eq. 8: 784-512 networks, a batch of 256 items of which a third know their label, ten classes and
ten dimensions of style, read from x apart from each other. A step is forward, backward and Adam. The two alternate;
medians are compared.

    python -m benchmarks priced_step
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.functional import softplus

import unknot
from unknot.objectives import semi_supervised

BATCH, PIXELS, HIDDEN, CLASSES, STYLE, N = 256, 784, 512, 10, 10, 60_000
ALPHA, BETWEEN, GOAL = 50.0, 4.0, 1.15


class ClassAndStyle(nn.Module):
    """Networks of q(y | x) q(z | x) and p(y) p(z) p(x | y, z), and S17's objective with a price."""

    def __init__(self, between: float) -> None:
        super().__init__()
        self.between = between
        self.hidden = nn.Sequential(nn.Linear(PIXELS, HIDDEN), nn.ReLU())
        self.label = nn.Linear(HIDDEN, CLASSES)
        self.style = nn.Linear(HIDDEN, 2 * STYLE)
        self.decoder = nn.Sequential(nn.Linear(CLASSES + STYLE, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, PIXELS))

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        q, p = unknot.Trace(), unknot.Trace()
        h = self.hidden(x)
        loc, raw = self.style(h).chunk(2, -1)
        y = q.concrete(self.label(h), 0.66, value=unknot.partial(labels), name="y")
        z = q.normal(loc, softplus(raw) + 1e-3, name="z")
        p.concrete(torch.zeros(CLASSES), 0.66, value=q["y"], name="y")
        p.normal(0.0, 1.0, value=q["z"], name="z")
        p.bernoulli(logits=self.decoder(unknot.cat([y, z], -1)), value=x, name="x")
        return semi_supervised(q, p, alpha=ALPHA, between=self.between, dataset_size=N, parents={}).loss


def run(steps: int = 100) -> list[dict[str, object]]:
    """The time of both steps, and their ratio."""
    torch.manual_seed(0)
    x = torch.rand(BATCH, PIXELS)
    labels = torch.where(torch.arange(BATCH) % 3 == 0, torch.randint(0, CLASSES, (BATCH,)), -1)
    with unknot.validation(False):
        priced, plain = _stepper(BETWEEN, x, labels), _stepper(1.0, x, labels)
        times: dict[Callable[[], None], list[float]] = {priced: [], plain: []}
        for _ in range(steps):
            for step, record in times.items():
                start = time.perf_counter()
                step()
                record.append(time.perf_counter() - start)
    medians = [statistics.median(record[steps // 10 :]) for record in times.values()]
    ratio = medians[0] / medians[1]
    name = f"semi-supervised step, K={CLASSES}, B={BATCH}"
    return [
        {"name": f"{name}: with a price", "value": medians[0] * 1e3, "unit": "ms", "goal": None, "ok": True},
        {"name": f"{name}: without", "value": medians[1] * 1e3, "unit": "ms", "goal": None, "ok": True},
        {"name": f"{name}: ratio", "value": ratio, "unit": "x", "goal": GOAL, "ok": ratio <= GOAL},
    ]


def _stepper(between: float, x: torch.Tensor, labels: torch.Tensor) -> Callable[[], None]:
    torch.manual_seed(1)
    model = ClassAndStyle(between)
    optimiser = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        model(x, labels).backward()
        optimiser.step()

    return step
