"""`unknot report`: the page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path | None, typer.Argument(help="Other data than the run's own.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="By default RUN/report.html.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="The folder of the data sets.")] = None,
) -> None:
    """Write one self-contained HTML page: graph, errors, reconstructions, analogies, traversals, curves.

    The first report of a run also computes what changes with each factor, and keeps it in the run folder. Errors are
    shown for labels that the model was not trained on. It links to an explorer.html beside it (`unknot export`).

    **Examples**

        unknot report runs/mine-1

        unknot report model new.npz               a saved model, on data of the kind it was trained on
    """
    from dataclasses import replace

    from unknot.cli.shared import EXPLORER, is_run, load_with_data, refuse_own_data
    from unknot.report.content import collect, collect_model
    from unknot.report.page import write_report
    from unknot.workflow.run import open_run

    if data is None and is_run(run):
        content, path = collect(open_run(run, data_dir)), output or run / "report.html"
    else:
        path = output or Path("report.html")
        refuse_own_data(path, data)
        model, items = load_with_data(run, data, f"unknot report {run} DATA")
        content = collect_model(model, items, run.resolve().name)
    if (path.parent / EXPLORER).exists():
        content = replace(content, explorer=EXPLORER)
    write_report(content, path)
    typer.echo(f"Wrote {path}.")
