"""`unknot evaluate`: how well a run's recogniser does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unknot.errors import DataError


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path | None, typer.Argument(help="Other data than the run's own test split.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where data sets lie.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the recogniser's error for every named factor, on the test split or on other data.

    **Examples**

        unknot evaluate runs/mine-1

        unknot evaluate runs/mine-1 more.npz --json
    """
    from unknot.cli.opening import data_to_test
    from unknot.cli.show import show_scores
    from unknot.workflow.evaluation import evaluate

    model, tested = data_to_test(run, data, data_dir)
    found = evaluate(model, tested)
    if not found:
        raise DataError(
            f"{tested.name} has no labels of the model's factors, so there is nothing to compare with."
        )
    if json:
        import json as writer

        typer.echo(writer.dumps([vars(score) for score in found]))
    else:
        show_scores(found, "test data" if data is None else str(data))
