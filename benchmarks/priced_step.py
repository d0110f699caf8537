"""A semi-supervised step with a price on the correlation between class and style, beside the step without.

E19's (A) within S17's Eq. 8: 784-512 networks, a batch of 256 items of which a third know their label, ten classes and
ten dimensions of style, read from x apart from each other. A step is forward, backward and Adam. The two alternate;
medians are compared.

    python -m benchmarks priced_step
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import softplus

import unknot
from benchmarks.in_turns import ratio_rows, training_step
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
        return semi_supervised(
            q, p, alpha=ALPHA, between=self.between, dataset_size=N, parents={name: [] for name in q}
        ).loss


def run() -> list[dict[str, Any]]:
    """The time of both steps, and their ratio."""
    torch.manual_seed(0)
    x = torch.rand(BATCH, PIXELS)
    labels = torch.where(torch.arange(BATCH) % 3 == 0, torch.randint(0, CLASSES, (BATCH,)), -1)
    priced, plain = ClassAndStyle(BETWEEN), ClassAndStyle(1.0)
    steps = training_step(priced, priced, x, labels), training_step(plain, plain, x, labels)
    with unknot.validation(False):
        return ratio_rows(
            f"semi-supervised step, K={CLASSES}, B={BATCH}", ("with a price", "without"), steps, GOAL
        )
