"""`unknot sample`: new data from a run's generator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unknot.errors import SpecError


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .png sheet, or .npz arrays.")] = Path(
        "samples.png"
    ),
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many.")] = 64,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NODE=VALUE", help="Give a node's value, e.g. digit=3."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the draws.")] = 0,
) -> None:
    """Make new items: every node is drawn from its prior, except those that are set. Needs no data.

    **Examples**

        unknot sample runs/mine-1 -n 64 -o sheet.png

        unknot sample runs/mine-1 --set digit=3 -o threes.npz
    """
    import numpy as np
    import torch

    from unknot.cli.fit import parse_settings
    from unknot.files import atomic_file
    from unknot.plots.image_grid import image_grid
    from unknot.plots.style import save
    from unknot.workflow.trained_model import TrainedModel

    model = TrainedModel.load(run)
    if output.suffix != ".npz" and not (output.suffix == ".png" and len(model.shape) == 3):
        raise SpecError(f"cannot write {output}: images go to a .png sheet, anything to .npz.")
    torch.manual_seed(seed)
    made = model.sample(count, **parse_settings(settings or [])).numpy()
    if output.suffix == ".npz":
        with atomic_file(output) as stream:
            np.savez_compressed(stream, x=made)
    else:
        columns = min(8, count)
        rows = -(-count // columns)
        blank = np.full((rows * columns - count, *made.shape[1:]), 0.0 if model.ink else 1.0, made.dtype)
        sheet = np.concatenate([made, blank]).reshape(rows, columns, *made.shape[1:])
        save(image_grid(sheet, ink=model.ink), output)
    typer.echo(f"Wrote {count} items to {output}.")
