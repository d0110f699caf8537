"""`unknot metrics`: every disentanglement score of the codes in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unknot.metrics.table import Table


def command(
    file: Annotated[Path, typer.Argument(help="An .npz with codes and factors.")],
    protocol: Annotated[
        str | None, typer.Option(help="A published protocol, for the scores that it defines.")
    ] = None,
    only: Annotated[str | None, typer.Option(help="Scores by name, separated by commas.")] = None,
    resamples: Annotated[int, typer.Option(min=0, help="Half-samples for the intervals; 0 for none.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of votes, splits, trees and half-samples.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Processes; by default one per core.")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write the numbers to this file.")] = None,
    png: Annotated[
        Path | None, typer.Option("--png", help="Draw the importance matrix to this file.")
    ] = None,
) -> None:
    """Print every score of codes against known factors, with 95 % intervals.

    The file holds `codes` and `factors`, arrays of one row per item, or one array for each: `code.NAME`,
    `probabilities.NAME` (rows q(c|x) of a categorical code), `factor.NAME`. Whole numbers and text are categories.

    **Examples**

        unknot metrics codes.npz

        unknot metrics codes.npz --only mig,dci --json scores.json --png importance.png
    """
    import os

    from unknot.metrics.table import table
    from unknot.workflow.codes import read_codes_and_factors

    read = read_codes_and_factors(file)
    wanted = None if only is None else [name.strip() for name in only.split(",")]
    found = table(
        read.codes,
        read.factors,
        protocol=protocol,
        only=wanted,
        resamples=resamples,
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
    )
    _show(found)
    _write(found, json, png)


def _show(found: Table) -> None:
    from rich.console import Console
    from rich.table import Table as Printed

    printed = Printed("score", "value", f"{found.level:.0%} interval", "protocol", box=None, pad_edge=False)
    for row in found.rows:
        name = row.score if row.number == "value" else f"{row.score}.{row.number}"
        between = f"{row.low:.3f} to {row.high:.3f}" if row.low == row.low else ""
        printed.add_row(name, f"{row.value:.3f}", between, row.protocol)
    console = Console()
    console.print(printed)
    for score, why in found.skipped.items():
        console.print(f"{score}: left out, {why}", highlight=False, markup=False)


def _write(found: Table, json: Path | None, png: Path | None) -> None:
    if json is not None:
        import json as writer

        from unknot.files import write_file

        write_file(json, (writer.dumps(found.to_dict(), indent=1) + "\n").encode())
    if png is not None:
        from unknot.errors import SpecError
        from unknot.plots.codes import importance_matrix
        from unknot.plots.style import save

        if found.importance is None:
            raise SpecError(
                "None of these scores has an importance matrix: ask for dci, med, infomec or mig too."
            )
        save(importance_matrix(found.importance, found.codes, found.factors), png)
