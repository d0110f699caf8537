"""`unknot sample`: new data from a run's decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unknot.errors import SpecError


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A .png sheet of images, a .csv table, or .npz arrays."),
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="The number of items.")] = 64,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NODE=VALUE", help="Set a node to a value, e.g. digit=3."),
    ] = None,
    mean: Annotated[
        bool, typer.Option("--mean", help="The expected data at the nodes' values, instead of a draw.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the draws.")] = 0,
) -> None:
    """Generate items: every node is drawn from its prior unless it is set, then the data is drawn. Needs no data.

    Images are written to a .png sheet, tables to a .csv file with their categories and column names, anything to .npz.
    A model of texts writes the most probable words of each document to a .csv file.

    **Examples**

        unknot sample runs/mine-1 -n 64 -o sheet.png

        unknot sample runs/mine-1 --set digit=3 -o threes.npz
    """
    import numpy as np
    import torch

    from unknot.cli.fit import parse_settings
    from unknot.data.files.stored_arrays import write_npz_array
    from unknot.data.readers.csv_cells import table_cells, write_table
    from unknot.data.text_dataset import TextDataset, likely_words
    from unknot.plots.images import image_grid
    from unknot.plots.style import save
    from unknot.workflow.trained_model import TrainedModel, items_at_once

    model = TrainedModel.load(run)
    texts = isinstance(model.data, TextDataset)
    suits = ".png" if len(model.shape) == 3 else ".csv" if model.data.table or texts else ".npz"
    output = output or Path(f"samples{suits}")
    if output.suffix not in (suits, ".npz"):
        raise SpecError(
            f"cannot write {output}: images go to a .png sheet, tables to .csv, anything to .npz; here {suits}."
        )
    torch.manual_seed(seed)
    values, step = parse_settings(settings or []), items_at_once(model.shape)
    sizes = [min(step, count - start) for start in range(0, count, step)]
    parts = (model.sample(size, values, mean=mean).numpy() for size in sizes)  # made while they are written
    if output.suffix == ".npz":
        write_npz_array(output, "x", count, parts)
    elif texts:
        words = (spoken for made in parts for spoken in likely_words(model.data.columns, made))
        write_table(output, ["words"], ([spoken] for spoken in words))
    elif output.suffix == ".csv":
        table = model.data.table
        write_table(
            output,
            [column.name for column in table],
            (row for made in parts for row in table_cells(table, made)),
        )
    else:
        made = np.concatenate(list(parts))
        columns = min(8, count)
        rows = -(-count // columns)
        blank = np.full((rows * columns - count, *made.shape[1:]), 0.0 if model.ink else 1.0, made.dtype)
        sheet = np.concatenate([made, blank]).reshape(rows, columns, *made.shape[1:])
        save(image_grid(sheet, ink=model.ink), output)
    typer.echo(f"Wrote {count} items to {output}.")
