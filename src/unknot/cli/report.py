"""`unknot report`: the page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="By default RUN/report.html.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where data sets lie.")] = None,
) -> None:
    """Write one self-contained HTML page: graph, errors, reconstructions, analogies, traversals, curves.

    **Example**

        unknot report runs/mine-1
    """
    from unknot.report.content import collect
    from unknot.report.page import write_report
    from unknot.workflow.trained import open_trained

    trained = open_trained(run, data_dir)
    path = output or run / "report.html"
    write_report(collect(trained), path)
    typer.echo(f"Wrote {path}.")
