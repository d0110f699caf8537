"""`unknot predict`: a table of predictions for new data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unknot.errors import DataError, SpecError


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path, typer.Argument(help="Data of the kind the run was trained on.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The .csv table, or for cells the .h5ad.")
    ] = Path("predictions.csv"),
    level: Annotated[
        float, typer.Option(help="The probability with which a set or an interval holds the truth.")
    ] = 0.9,
    errors: Annotated[
        str,
        typer.Option(
            help="raise: refuse a table with an unknown category or a cell that cannot be read; warn: the first is "
            "missing, and the row of the second has no prediction.",
        ),
    ] = "warn",
) -> None:
    """Write a CSV table: for each item the best class and its probability, or the mean, of every named factor.

    Models that were cross-fitted, as default models are, also write "kind set", the classes that hold the true one with
    probability --level, separated by "|"; "size low" and "size high" for numbers; and "novelty", a p-value of the
    hypothesis that the item is like the training items: of such items 1 % have one of at most 0.01.

    Items are identified by their row, from 0, or by the file's name if the data is a folder; columns of a table that
    are neither data nor label, such as a patient's number, are kept. The training data is not needed.

    Of cells, `-o new.h5ad` writes a copy with the predictions in obs, obsm and uns.

    **Example**

        unknot predict runs/mine-1 new.npz -o table.csv
    """
    from unknot.cli.shared import refuse_own_data
    from unknot.data.cell_dataset import CellDataset
    from unknot.data.readers.cells import copy_of_cells
    from unknot.data.readers.csv_cells import write_table
    from unknot.data.readers.user_files import read_new_data
    from unknot.workflow.cell_predictions import annotate
    from unknot.workflow.items_for_model import items_for_model
    from unknot.workflow.prediction_table import prediction_rows
    from unknot.workflow.trained_model import TrainedModel

    refuse_own_data(output, data)
    to_cells = output.suffix.lower() == ".h5ad" == data.suffix.lower()
    if output.suffix.lower() != ".csv" and not to_cells:
        raise SpecError(
            f"cannot write {output}: predictions go to a .csv table, and of cells (.h5ad) to .h5ad too."
        )
    model = TrainedModel.load(run)
    if not model.labeled:
        raise DataError(
            f"the model in {run} takes no labels, so there is no factor to predict; in Python StructuredVAE.load gives "
            "a model whose transform has the codes."
        )
    if errors not in ("warn", "raise"):
        raise SpecError(f"--errors is warn or raise, but got {errors!r}.")
    if not 0 < level < 1:
        raise SpecError(f"--level is between 0 and 1, but got {level:g}.")
    items, identity = read_new_data(data, model.data, errors)
    items = items_for_model(model, items)
    if to_cells and isinstance(items, CellDataset):
        with copy_of_cells(data, output) as adata:
            annotate(model, adata, items, level)
    else:
        rows = prediction_rows(model, items, list(identity), zip(*identity.values(), strict=True), level)
        write_table(output, next(rows), rows)
    typer.echo(f"Wrote {len(items)} rows to {output}.")
