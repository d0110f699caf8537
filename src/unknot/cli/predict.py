"""`unknot predict`: a table of what the recogniser says of new data."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    data: Annotated[Path, typer.Argument(help="Data of the kind the run was trained on.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The table to write.")] = Path(
        "predictions.csv"
    ),
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where data sets lie.")] = None,
) -> None:
    """Write a CSV table: for each item the best class and its probability, or the mean, of every named factor.

    **Example**

        unknot predict runs/mine-1 new.npz -o table.csv
    """
    from unknot.data.user_files import read_user_data
    from unknot.experiments.evaluation import recognise
    from unknot.experiments.prediction_table import prediction_table
    from unknot.experiments.trained import open_trained
    from unknot.train.atomic import write_file

    trained = open_trained(run, data_dir)
    asked = read_user_data(data, like=trained.train)
    header, rows = prediction_table(trained.model, trained.train, asked, recognise(trained.model, asked))
    lines: list[str] = []
    writer = csv.writer(_Lines(lines))
    writer.writerow(header)
    writer.writerows(rows)
    write_file(output, "".join(lines).encode())
    typer.echo(f"Wrote {len(rows)} rows to {output}.")


class _Lines:
    """What csv.writer writes to: a list of lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def write(self, text: str) -> None:
        self.lines.append(text)
