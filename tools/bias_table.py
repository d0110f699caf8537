"""How far log q^ is from log q on average, by batch size, for an encoder that reads b from a.

    python -m tools.bias_table docs/equations.md

measures and puts the table between the two comments of the page that name this tool.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from tests.conformance.dependent_estimators import log_gaps
from tests.conformance.row import summary
from unknot import files

ITEMS, TRIALS = 1024, 40
BATCHES = (8, 32, 128, 512)
START, END = "<!-- tools/bias_table.py -->", "<!-- end of tools/bias_table.py -->"
ROWS = (
    "log q(a): no parent",
    "log q(b), 1 draw",
    "log q(b), 8 draws (the default)",
    "log q(b), the shortcut: at its own a",
    "log q(a, b), 16 pairs (the default)",
    "log q(a, b), every pair",
    "`between`, 8 draws, 16 pairs",
    "`between`, 8 draws, every pair",
)


def columns(batches: Sequence[int], trials: int) -> Iterator[list[str]]:
    """The cells of one batch size after another, in the order of the rows."""
    for batch in batches:
        torch.manual_seed(0)
        one = log_gaps(trials, ITEMS, batch, pairs=min(16, batch - 1), draws=1)
        few = log_gaps(trials, ITEMS, batch, pairs=min(16, batch - 1), draws=8)
        every = log_gaps(max(2, trials * 64 // max(64, batch)), ITEMS, batch, pairs=batch - 1, draws=8)
        yield [
            cell(few["q(a)"]),
            cell(one["q(b)"]),
            cell(few["q(b)"]),
            cell(few["shortcut"]),
            cell(few["q(a, b)"]) if batch > 17 else "",
            cell(every["q(a, b)"]),
            cell(few["q(a)"] + few["q(b)"] - few["q(a, b)"]) if batch > 17 else "",
            cell(every["q(a)"] + every["q(b)"] - every["q(a, b)"]),
        ]


def cell(gaps: torch.Tensor) -> str:
    mean, error, _ = summary(gaps.mean(-1))
    return f"{mean:+.3f} ± {error:.1g}"


def table(batches: Sequence[int] = BATCHES, trials: int = TRIALS) -> str:
    """The table in Markdown."""
    cells = list(columns(batches, trials))
    lines = [
        "| | " + " | ".join(f"B = {batch}" for batch in batches) + " |",
        "|---|" + "---|" * len(batches),
        *(
            f"| {name} | " + " | ".join(column[row] for column in cells) + " |"
            for row, name in enumerate(ROWS)
        ),
    ]
    return "\n".join(lines)


def main(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    files.write_file(page, f"{before}{START}\n{table()}\n{END}{after}".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
