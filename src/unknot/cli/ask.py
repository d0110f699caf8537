"""`unknot ask`: which items to label next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unknot.errors import SpecError


def command(
    run: Annotated[Path, typer.Argument(help="A run folder, or a saved model.")],
    data: Annotated[Path, typer.Argument(help="Data without labels, of the kind the run was trained on.")],
    count: Annotated[int, typer.Option("-k", "--count", help="How many items.")] = 20,
    factor: Annotated[str | None, typer.Option(help="The factor; needed if there are several.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The .csv table to write.")] = Path(
        "ask.csv"
    ),
) -> None:
    """Write a CSV table of the items whose label would help most, the most helpful one first.

    Items are identified as by `unknot predict`. The column "variance left" is the share of the disagreement among the
    members of the model, over all items, that is expected to be left after the labels of the item and of those above.

    **Example**

        unknot ask runs/mine-1 new.npz -k 20 -o ask.csv
    """
    from unknot.cli.shared import refuse_own_data
    from unknot.data.readers.csv_cells import write_table
    from unknot.data.readers.user_files import read_new_data
    from unknot.workflow.ask import ask
    from unknot.workflow.items_for_model import items_for_model
    from unknot.workflow.trained_model import TrainedModel

    refuse_own_data(output, data)
    if output.suffix.lower() != ".csv":
        raise SpecError(f"cannot write {output}: the items go to a .csv table.")
    model = TrainedModel.load(run)
    names = [node.name for node in model.labeled]
    if factor is None and len(names) == 1:
        factor = names[0]
    if factor not in names:
        raise SpecError(
            f"choose a factor with --factor, one of {', '.join(names) or 'none (nothing was labeled)'}."
        )
    items, identity = read_new_data(data, model.data)
    items = items_for_model(model, items)
    rows, left = ask(model, items.batch(range(len(items))).x, count, factor)
    cells = [
        [*(str(values[row]) for values in identity.values()), f"{share:.4f}"]
        for row, share in zip(rows.tolist(), left.tolist(), strict=True)
    ]
    write_table(output, [*identity, "variance left"], cells)
    typer.echo(f"Wrote {count} items to {output}; label them, and fit again.")
