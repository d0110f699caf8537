"""`unknot predict`: a table of what the encoder says of new data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unknot.errors import DataError, SpecError

if TYPE_CHECKING:
    from unknot.data.dataset import Dataset
    from unknot.workflow.trained_model import TrainedModel


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path, typer.Argument(help="Data of the kind the run was trained on.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The .csv table to write.")] = Path(
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
    from unknot.cli.opening import read_like, refuse_own_data
    from unknot.data.user.csv_file import write_table
    from unknot.workflow.prediction_table import prediction_rows
    from unknot.workflow.trained_model import TrainedModel

    refuse_own_data(output, data)
    if output.suffix.lower() != ".csv":
        raise SpecError(f"cannot write {output}: predictions go to a .csv table.")
    model = TrainedModel.load(run)
    if not model.labeled:
        raise DataError(
            f"the model in {run} takes no labels, so there is no factor to predict; in Python StructuredVAE.load gives "
            "a model whose transform has the codes."
        )
    asked = read_like(model, data)
    names, told = _told(data, asked, model)
    rows = prediction_rows(model, asked, names, told)
    write_table(output, next(rows), rows)
    typer.echo(f"Wrote {len(asked)} rows to {output}.")


def _told(path: Path, asked: Dataset, model: TrainedModel) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """What tells items apart, and it for each of them, read while it is asked for."""
    from unknot.data.text_dataset import TextDataset
    from unknot.data.user.csv_cell import read_cell
    from unknot.data.user.csv_rows import CsvRows, is_table
    from unknot.data.user.image_folder import image_names
    from unknot.data.user.text_folder import text_names

    if path.is_dir():
        files = text_names(path) if isinstance(asked, TextDataset) else image_names(path)
        return ["file"], iter(zip(files, strict=True))
    if not is_table(path):
        return ["row"], iter(zip(asked.ids.tolist(), strict=True))
    table = CsvRows(path)
    ours = {column.name for column in model.data.table} | set(model.data.factors)
    ours |= {f"{name} probability" for name in model.data.factors}  # of an earlier prediction
    kept = [i for i, name in enumerate(table.names) if name not in ours]

    def cells() -> Iterator[Sequence[Any]]:
        row = 0
        for block in table.blocks():
            for words in zip(*(block[i] for i in kept), strict=True) if kept else [()] * len(block[0]):
                yield (row, *(read_cell(word, table.decimal_comma) or "" for word in words))
                row += 1

    return ["row", *(table.names[i] for i in kept)], cells()
