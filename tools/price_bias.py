"""How far the price's estimate of the correlation between class and style is from the truth, by batch size.

    python -m tools.price_bias docs/equations.md

measures and puts the table between the two comments of the page that name this tool.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

import unknot
from tests.conformance.row import summary
from unknot import files
from unknot.objectives import semi_supervised

CLASSES, WIDTH, N = (
    10,
    0.5,
    60_000,
)  # WIDTH: of q(z | x); the items of a class are spread so that q(z | y) has width 1
BATCHES = (128, 256, 512, 1024, 2048)
SIZES = (2, 6, 10)  # of the style
APART = 0.5  # the distance of a class's style from the next one's, along the first dimension
ITEMS = 40_960  # for each cell, in as many batches as that makes
START, END = "<!-- tools/price_bias.py -->", "<!-- end of tools/price_bias.py -->"


def truth() -> float:
    """I(y; z) of ten Gaussians of width one on a line, by a sum over a fine grid; the other dimensions say nothing."""
    grid = torch.linspace(-12, 12, 24_001, dtype=torch.float64)
    means = APART * (torch.arange(CLASSES, dtype=torch.float64) - (CLASSES - 1) / 2)
    of_class = torch.exp(-0.5 * (grid - means[:, None]) ** 2) / math.sqrt(2 * math.pi)  # (K, grid)
    of_all = of_class.mean(0)
    integrand = (of_class * (of_class.log() - of_all.log())).mean(0)
    return float(torch.trapezoid(integrand, grid))


def estimate(batch: int, size: int) -> float:
    """The mean over a batch of minus the term ``between``; every other item knows its class, the encoder all."""
    y = torch.randint(0, CLASSES, (batch,))
    means = math.sqrt(1 - WIDTH**2) * torch.randn(batch, size)
    means[:, 0] += APART * (y - (CLASSES - 1) / 2)
    q, p = unknot.Trace(), unknot.Trace()
    logits = 20.0 * torch.eye(CLASSES)[y]
    known = unknot.partial(torch.where(torch.arange(batch) % 2 == 0, y, -1))
    q.concrete(logits, 0.66, value=known, name="y")
    q.normal(means, WIDTH, name="z", event_dims=1)
    p.concrete(torch.zeros(CLASSES), 0.66, value=q["y"], name="y")
    p.normal(torch.zeros(size), 1.0, value=q["z"], name="z", event_dims=1)
    p.normal(torch.zeros(batch), 1.0, value=torch.zeros(batch), name="x")
    terms = semi_supervised(q, p, between=2.0, dataset_size=N, parents={name: [] for name in q})
    return -float(terms["between"].mean())


def table(batches: Sequence[int] = BATCHES, items: int = ITEMS) -> str:
    """The table in Markdown."""
    lines = ["| | " + " | ".join(f"B = {batch}" for batch in batches) + " |", "|---|" + "---|" * len(batches)]
    exact = truth()
    for size in SIZES:
        torch.manual_seed(0)
        cells = []
        for batch in batches:
            found = torch.tensor([estimate(batch, size) for _ in range(max(items // batch, 2))])
            mean, error, _ = summary(found - exact)
            cells.append(f"{mean:+.3f} ± {error:.1g}")
        lines.append(f"| {size} dimensions of style | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    files.write_file(page, f"{before}{START}\n{table()}\n{END}{after}".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
