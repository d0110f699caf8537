"""`unknot predict`: a table of what the recogniser says of new data."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path, typer.Argument(help="Data of the kind the run was trained on.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The table to write.")] = Path(
        "predictions.csv"
    ),
) -> None:
    """Write a CSV table: for each item the best class and its probability, or the mean, of every named factor.

    Items are told apart by their row, from 0, or by the file's name if the data is a folder of images. The data the
    run was trained on is not needed.

    **Example**

        unknot predict runs/mine-1 new.npz -o table.csv
    """
    from unknot.data.user.image_folder import image_names
    from unknot.data.user.user_files import read_user_data
    from unknot.files import write_file
    from unknot.workflow.evaluation import recognise
    from unknot.workflow.prediction_table import prediction_table
    from unknot.workflow.trained_model import TrainedModel

    model = TrainedModel.load(run)
    asked = read_user_data(data, like=model.data)
    items = {"file": image_names(data)} if data.is_dir() else {"row": asked.ids.tolist()}
    header, rows = prediction_table(model, recognise(model, asked), items)
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
