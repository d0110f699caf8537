"""What commands open: a run with its own data, or any saved model with data that is named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unknot.errors import DataError, SpecError

if TYPE_CHECKING:
    from unknot.data.dataset import Dataset
    from unknot.workflow.trained_model import TrainedModel


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, and not a model alone."""
    from unknot.train.run_folder import is_run as holds_run

    return holds_run(path)


def read_like(model: TrainedModel, data: Path | None, usage: str = "") -> Dataset:
    """The named data, of the kind that the model was trained on; ``usage`` says how to name it."""
    from unknot.data.user.user_files import read_user_data
    from unknot.workflow.items_for_model import items_for_model

    if data is None:
        raise DataError(f"this is a model without data: name some, `{usage}`.")
    return items_for_model(model, read_user_data(data, like=model.data))


def refuse_own_data(output: Path, data: Path | None) -> None:
    """Refuse to write over the data that is read: it may be the only copy."""
    if data is not None and output.exists() and data.exists() and output.samefile(data):
        raise SpecError(f"-o {output} would take the place of the data; name another file.")


def data_to_test(
    path: Path, data: Path | None, data_dir: Path | None
) -> tuple[TrainedModel, Dataset, Dataset | None]:
    """The model, the data to test it on (that which is named, else the run's own test split), and its training data.

    The training data shows the labels that the run may see; there is none where other data is named.
    """
    from unknot.workflow.run import open_run
    from unknot.workflow.trained_model import TrainedModel

    usage = f"unknot evaluate {path} DATA"
    if data is not None or not is_run(path):
        model = TrainedModel.load(path)
        return model, read_like(model, data, usage), None
    trained = open_run(path, data_dir)
    if trained.test is None:
        raise DataError(f"{trained.train.name} has no test split: name labeled data, `{usage}`.")
    return trained.model, trained.test, trained.train
