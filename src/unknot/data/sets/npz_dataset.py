"""A Dataset in one .npz file, without pickle: arrays as they are, names and kinds as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.broken_file import explain_broken_file
from unknot.data.files.stored_arrays import open_npz
from unknot.errors import DataError
from unknot.files import atomic_file


def write_npz(path: Path, dataset: Dataset) -> None:
    """Write the data set whole or not at all. Packed images and sparse counts are not supported."""
    if not isinstance(dataset.x, Tensor):
        raise DataError(
            f"{dataset.name}: packed images and sparse counts cannot be written to {path.name}; unpack a subset first."
        )
    about = {
        "name": dataset.name,
        "licence": dataset.licence,
        "columns": dataset.columns,
        "factors": [(f.name, f.kind, f.classes) for f in dataset.factors.values()],
    }
    tensors = {"x": dataset.x, "ids": dataset.ids}
    tensors |= {f"factor.{f.name}": f.values for f in dataset.factors.values()}
    tensors |= {f"split.{name}": rows for name, rows in dataset.splits.items()}
    arrays: dict[str, Any] = {name: tensor.cpu().numpy() for name, tensor in tensors.items()}
    with atomic_file(path) as stream:
        np.savez(stream, about=np.array(json.dumps(about)), **arrays)


def read_npz_dataset(path: Path) -> Dataset:
    """The data set that ``write_npz`` wrote."""
    with explain_broken_file(path, "a data set"), open_npz(path) as archive:
        about = json.loads(str(archive["about"]))
        factors = {}
        for name, kind, classes in about["factors"]:
            values = torch.from_numpy(archive[f"factor.{name}"])
            factors[name] = Factor(name, kind, values, None if classes is None else tuple(classes))
        splits = {
            key.removeprefix("split."): torch.from_numpy(archive[key])
            for key in archive.files
            if key.startswith("split.")
        }
        x, ids = torch.from_numpy(archive["x"]), torch.from_numpy(archive["ids"])
        return Dataset(about["name"], x, ids, factors, splits, about["licence"], tuple(about["columns"]))
