"""How far the estimated total correlation is from the truth, by the items that q(z) is estimated from.

    python -m tools.correlation_bias docs/equations.md

measures and puts the table between the two comments of the page that name this tool.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import torch

import unknot
from tests.conformance.row import summary
from unknot import files
from unknot.objectives import information

N, WIDTH, CORRELATION = 60_000, 0.2, 0.3  # WIDTH: of q(z | x); every dimension of q(z) has variance 1
BATCH, FURTHER = 64, (0, 512, 2048)  # items of a step, and further ones (train.references)
SIZES = (2, 4, 6)  # dimensions in use
ITEMS = 6400  # for each cell, in batches
START, END = "<!-- tools/correlation_bias.py -->", "<!-- end of tools/correlation_bias.py -->"


def covariance(size: int) -> torch.Tensor:
    """Of q(z): ones, and the same correlation of every two dimensions."""
    return torch.eye(size) * (1 - CORRELATION) + CORRELATION


def truth(size: int) -> float:
    """TC of a Gaussian: minus half the logarithm of the determinant of its correlations."""
    return -0.5 * float(torch.logdet(covariance(size).double()))


def codes(items: int, size: int) -> unknot.Trace:
    """q(z | x) of random items: normal, of the same width, around means such that q(z) has the covariance."""
    spread = torch.linalg.cholesky(covariance(size) - WIDTH**2 * torch.eye(size))
    q = unknot.Trace()
    q.normal(torch.randn(items, size) @ spread.mT, WIDTH, name="z", event_dims=1)
    return q


def estimate(size: int, batch: int, further: int) -> float:
    """The total correlation by a batch and further items."""
    reference = codes(further, size) if further else None
    return float(information(codes(batch, size), N, parents={"z": []}, reference=reference).total_correlation)


def table(further: Sequence[int] = FURTHER, items: int = ITEMS) -> str:
    """The table in Markdown."""
    heads = [f"{BATCH} + {more:,}" if more else f"{BATCH}" for more in further]
    lines = ["| | truth | " + " | ".join(heads) + " |", "|---|" + "---|" * (1 + len(heads))]
    for size in SIZES:
        torch.manual_seed(0)
        cells = []
        for more in further:
            found = torch.tensor([estimate(size, BATCH, more) for _ in range(max(items // BATCH, 2))])
            mean, error, _ = summary(found - truth(size))
            cells.append(f"{mean:+.2f} ± {error:.1g}")
        lines.append(f"| {size} dimensions | {truth(size):.2f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    files.write_file(page, f"{before}{START}\n{table()}\n{END}{after}".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
