"""`unknot report`: the page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path | None, typer.Argument(help="Other data than the run's own.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="By default RUN/report.html.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where data sets lie.")] = None,
) -> None:
    """Write one self-contained HTML page: graph, errors, reconstructions, analogies, traversals, curves.

    **Examples**

        unknot report runs/mine-1

        unknot report model new.npz               a saved model, on data of the kind it was trained on
    """
    from unknot.cli.opening import is_run, read_like, refuse_own_data
    from unknot.report.content import collect, collect_model
    from unknot.report.page import write_report
    from unknot.workflow.run import open_run
    from unknot.workflow.trained_model import TrainedModel

    if data is None and is_run(run):
        content, path = collect(open_run(run, data_dir)), output or run / "report.html"
    else:
        path = output or Path("report.html")
        refuse_own_data(path, data)
        model = TrainedModel.load(run)
        content = collect_model(
            model, read_like(model, data, f"unknot report {run} DATA"), run.resolve().name
        )
    write_report(content, path)
    typer.echo(f"Wrote {path}.")
