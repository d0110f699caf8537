"""`unknot predict`: a table of what the recogniser says of new data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path, typer.Argument(help="Data of the kind the run was trained on.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The table to write.")] = Path(
        "predictions.csv"
    ),
) -> None:
    """Write a CSV table: for each item the best class and its probability, or the mean, of every named factor.

    Items are told apart by their row, from 0, or by the file's name if the data is a folder; columns of a
    table that are neither data nor label, such as a patient's number, are kept. The data the run was trained on is
    not needed.

    **Example**

        unknot predict runs/mine-1 new.npz -o table.csv
    """
    from unknot.data.text_dataset import TextDataset
    from unknot.data.user.csv_file import write_table
    from unknot.data.user.csv_rows import read_rows
    from unknot.data.user.image_folder import image_names
    from unknot.data.user.text_folder import text_names
    from unknot.data.user.user_files import read_user_data
    from unknot.workflow.evaluation import recognise
    from unknot.workflow.prediction_table import prediction_table
    from unknot.workflow.trained_model import TrainedModel

    model = TrainedModel.load(run)
    asked = read_user_data(data, like=model.data)
    items: dict[str, list[Any]] = {"row": asked.ids.tolist()}
    if data.is_dir():
        items = {"file": text_names(data) if isinstance(asked, TextDataset) else image_names(data)}
    elif data.suffix == ".csv":
        ours = {column.name for column in model.data.table} | set(model.data.factors)
        kept = {name: cells for name, cells in read_rows(data).items() if name not in ours}
        items |= {name: [cell or "" for cell in cells] for name, cells in kept.items()}
    header, rows = prediction_table(model, recognise(model, asked), items)
    write_table(output, header, rows)
    typer.echo(f"Wrote {len(rows)} rows to {output}.")
