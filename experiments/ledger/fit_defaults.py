"""The library as a stranger would use it: data and whatever labels there are in, a trained model out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from unknot.data.dataset import Column, Dataset
from unknot.data.from_arrays import from_arrays
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.trained_model import TrainedModel

LABELS_ALONE = {"name": "supervised", "alpha": 1.0}
ENSEMBLE_ALONE = {"name": "supervised", "alpha": 0.0}  # the ensemble's own terms of the labels remain


def labeled_data(x: np.ndarray, labels: Mapping[str, np.ndarray], table: Sequence[Column] = ()) -> Dataset:
    """Items with labels: whole numbers are classes, -1 unknown; others are numbers, NaN unknown."""
    kinds: dict[str, Any] = {
        name: "continuous" if values.dtype.kind == "f" else "categorical" for name, values in labels.items()
    }
    made = from_arrays(x, dict(labels), kinds=kinds, missing=bool(table))
    return Dataset("own data", made.x, made.ids, made.factors, table=tuple(table))


def real_columns(x: np.ndarray) -> tuple[Column, ...]:
    """Every column of rows ``(N, D)`` as a number."""
    return tuple(Column(f"column {i}", "real") for i in range(x.shape[1]))


def fitted(
    data: Dataset,
    seed: int,
    settings: Mapping[str, Any] | None = None,
    model: Mapping[str, Any] | None = None,
) -> TrainedModel:
    """The defaults fitted to the data, but for training ``settings`` and options of the ``model``; wholly, or not."""
    chosen = {"seed": seed, "progress": False, "device": "cpu", **(settings or {})}
    assembled = assemble(data, model or {}, chosen)
    if fit(assembled.model.module, data, assembled.config).stopped_because == "interrupted":
        raise KeyboardInterrupt
    assembled.model.module.eval()
    return assembled.model


def class_shares(model: TrainedModel, name: str, x: np.ndarray, classes: int) -> np.ndarray:
    """Probabilities ``(N, K)`` of a factor's classes, of which some may have had no label."""
    return full(recognized(model, name, x), np.asarray(model.class_values(name)), classes)


def recognized(model: TrainedModel, name: str, x: np.ndarray) -> np.ndarray:
    """What the model says of a factor, as it comes: probabilities of the classes it knows, or means."""
    items = torch.from_numpy(x if x.dtype == np.uint8 else x.astype(np.float32))
    scaled = items.float() / 255 if items.dtype == torch.uint8 else items
    return model.predict(scaled).predictions[name].numpy()


def full(shares: np.ndarray, present: np.ndarray, classes: int) -> np.ndarray:
    """Probabilities of all classes, of which some had no label."""
    found = np.full((len(shares), classes), 1e-7)
    found[:, present.astype(int)] = np.clip(shares, 1e-7, None)
    return found / found.sum(1, keepdims=True)
