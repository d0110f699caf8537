"""The model of a run as its folder keeps it: usable without the data it was trained on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from unknot.data.dataset import Dataset
from unknot.data.description import dataset_without_items, describe_dataset
from unknot.errors import RunError
from unknot.files import write_file
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import read_spec
from unknot.plots.image_grid import drawn_in_ink
from unknot.train.run_folder import RunFolder

MODEL = "model.json"


@dataclass(frozen=True)
class KeptModel:
    """A trained model, and the description of its data: a data set without items. ``ink``: dark strokes on a page."""

    run: RunFolder
    model: GraphicalModel
    data: Dataset
    ink: bool


def keep_model(run: RunFolder, model: GraphicalModel, data: Dataset) -> None:
    """Write ``RUN/model.json``: the descriptions of the model and of its data. The weights are in checkpoints."""
    some = data.batch(range(min(64, len(data)))).x.numpy()
    ink = len(model.shape) == 3 and drawn_in_ink(some)
    content = {"spec": model.spec.to_dict(), "data": describe_dataset(data), "ink": ink}
    with run.explains_disk_errors(MODEL):
        write_file(run.path / MODEL, json.dumps(content, indent=1).encode())


def open_model(path: str | Path) -> KeptModel:
    """The model of a run with the weights of its last checkpoint."""
    run = RunFolder.open(path)
    try:
        content = json.loads((run.path / MODEL).read_text())
        spec, data, ink = (
            read_spec(content["spec"]),
            dataset_without_items(content["data"]),
            bool(content["ink"]),
        )
    except OSError as error:
        raise RunError(f"{run.path} has no readable {MODEL}: it was not made by `unknot fit`.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{run.path / MODEL} is damaged ({error}).") from error
    with torch.random.fork_rng(devices=[]):  # the weights drawn here are replaced at once
        model = GraphicalModel(spec, data.item_shape)
    run.load_weights(model)
    return KeptModel(run, model.eval(), data, ink)
