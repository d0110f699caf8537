"""What several commands use: saved models with the data that is named, and tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unknot.errors import DataError, SpecError

if TYPE_CHECKING:
    from unknot.data.dataset import Dataset
    from unknot.workflow.trained_model import TrainedModel
    from unknot.workflow.verdict.unseen import Unseen

EXPLORER = "explorer.html"  # in a run folder, beside the report


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, and not a model alone."""
    from unknot.train.run_folder import is_run as holds_run

    return holds_run(path)


def read_like(model: TrainedModel, data: Path) -> Dataset:
    """The named data, of the kind that the model was trained on."""
    from unknot.data.readers.user_files import read_user_data
    from unknot.workflow.items_for_model import items_for_model

    return items_for_model(model, read_user_data(data, like=model.data))


def load_with_data(path: Path, data: Path | None, usage: str) -> tuple[TrainedModel, Dataset]:
    """A saved model, or that of a run, and the named data; ``usage`` is the command that names some."""
    from unknot.workflow.trained_model import TrainedModel

    model = TrainedModel.load(path)
    if data is None:
        raise DataError(f"{path} is a model without data: give some, `{usage}`.")
    return model, read_like(model, data)


def write_explorer(run: Path, data: Path | None, output: Path, data_dir: Path | None) -> None:
    """Write the explorer of a run with its held-out items, or of a model with the named data or generated items."""
    from unknot.explorer.export import export_page
    from unknot.workflow.run import open_run
    from unknot.workflow.trained_model import TrainedModel

    title, load = run.resolve().name, str(run)
    if data is None and is_run(run):
        trained = open_run(run, data_dir)
        items = trained.train if trained.test is None else trained.test
        export_page(trained.model, output, items, train=trained.train, title=title, load=load)
        return
    refuse_own_data(output, data)
    model = TrainedModel.load(run)
    export_page(model, output, None if data is None else read_like(model, data), title=title, load=load)


def refuse_own_data(output: Path, data: Path | None) -> None:
    """Refuse to overwrite the data that is read: it may be the only copy."""
    if data is not None and output.exists() and data.exists() and output.samefile(data):
        raise SpecError(f"-o {output} would overwrite the data; name another file.")


def show_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; plain enough for a file, with lines and colors in a terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def show_unseen(unseen: Sequence[Unseen]) -> None:
    """Print what was measured on labels that the model was not trained on; nothing if there are none."""
    from unknot.workflow.verdict.unseen import table_of

    if unseen:
        header, rows = table_of(unseen)
        first, *others = zip(
            header, *rows, strict=True
        )  # a column for each factor: narrow enough for a terminal
        show_table("Predictions for labels that the model was not trained on", first, others)
