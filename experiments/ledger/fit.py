"""Training for the experiments: recipes of labelled data sets, and the library's defaults on arrays."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from experiments.ledger.experiment import Settings
from unknot.data.dataset import Column, Dataset
from unknot.data.from_arrays import from_arrays
from unknot.train.config import TrainConfig
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.evaluation import evaluate
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import TrainedRun, train_recipe
from unknot.workflow.schema import kind_of
from unknot.workflow.trained_model import TrainedModel

LABELS_ALONE = {"name": "supervised", "alpha": 1.0}
ENSEMBLE_ALONE = {"name": "supervised", "alpha": 0.0}  # the ensemble's own label terms remain


def train_quietly(recipe: Recipe) -> TrainedRun:
    """Train a recipe in a temporary folder; an interrupt raises and leaves no model.

    Results are of the model itself: it is not cross-fitted, and nothing is stacked on it.

    Settings of a model without nodes are those of the class-and-style model, which the experiments are about.
    """
    kind = {"model.kind": "class_style"} if recipe.model and kind_of(recipe.model) == "auto" else {}
    recipe = recipe.with_settings({"train.progress": False, "train.cross_fit": 0, **kind})
    with tempfile.TemporaryDirectory() as folder:
        trained, result = train_recipe(recipe, Path(folder) / "run")
    if result.stopped_because == "interrupted":
        raise KeyboardInterrupt
    return trained


def recipe_of(settings: Settings, seed: int, factor: str | None = None) -> Recipe:
    """Return the recipe of a case; the seed draws the labelled items, the initial weights and the batches."""
    labels = {} if factor is None else {"budget": {factor: settings["labels"]}, "seed": seed}
    train = {**settings["train"], "seed": seed}
    return Recipe({"name": settings["data"]}, labels, settings["model"], train)


def short(train: Mapping[str, Any], steps: int = 3, batch_size: int = 60) -> dict[str, Any]:
    """Return training settings for the smoke tier: few steps and at most one stage."""
    stages = {"stages": [{**stage, "steps": 2} for stage in train["stages"][:1]]} if "stages" in train else {}
    return {**train, "steps": steps, "batch_size": batch_size, **stages}


def fit_wholly(model: nn.Module, data: Dataset, config: TrainConfig) -> None:
    """Train a module in place and set it to evaluation mode; an interrupt raises."""
    if fit(model, data, config).stopped_because == "interrupted":
        raise KeyboardInterrupt
    model.eval()


def error_of(trained: TrainedRun, factor: str) -> float:
    """Return the test error of a factor's encoder in per cent."""
    assert trained.test is not None
    scores = evaluate(trained.model, trained.test)
    return 100 * next(score.value for score in scores if score.factor == factor)


def labeled_data(x: np.ndarray, labels: Mapping[str, np.ndarray], table: Sequence[Column] = ()) -> Dataset:
    """Return a data set with labels: integers are classes (-1: unknown), floats are numbers (NaN: unknown)."""
    kinds: dict[str, Any] = {
        name: "continuous" if values.dtype.kind == "f" else "categorical" for name, values in labels.items()
    }
    data = from_arrays(x, dict(labels), kinds=kinds, missing=bool(table))
    return Dataset("own data", data.x, data.ids, data.factors, table=tuple(table))


def real_columns(x: np.ndarray) -> tuple[Column, ...]:
    """Return a description of the rows ``(N, D)`` in which every column is a number."""
    return tuple(Column(f"column {i}", "real") for i in range(x.shape[1]))


def fitted(
    data: Dataset,
    seed: int,
    settings: Mapping[str, Any] | None = None,
    model: Mapping[str, Any] | None = None,
) -> TrainedModel:
    """Fit the default model, or ``model``, with training ``settings``; an interrupt raises."""
    train = {"seed": seed, "progress": False, "device": "cpu", **(settings or {})}
    assembled = assemble(data, model or {}, train)
    fit_wholly(assembled.model.module, data, assembled.config)
    return assembled.model


def class_probabilities(model: TrainedModel, name: str, x: np.ndarray, classes: int) -> np.ndarray:
    """Return probabilities ``(N, K)`` of all classes of a factor; some may have had no label."""
    return full(predicted(model, name, x), np.asarray(model.class_values(name)), classes)


def predicted(model: TrainedModel, name: str, x: np.ndarray) -> np.ndarray:
    """Return the prediction of a factor: probabilities of the classes with labels, or means."""
    items = torch.from_numpy(x if x.dtype == np.uint8 else x.astype(np.float32))
    scaled = items.float() / 255 if items.dtype == torch.uint8 else items
    return model.predict(scaled).predictions[name].numpy()


def full(probabilities: np.ndarray, present: np.ndarray, classes: int) -> np.ndarray:
    """Return probabilities of all classes from those of the classes ``present`` in the labels."""
    every = np.full((len(probabilities), classes), 1e-7)
    every[:, present.astype(int)] = np.clip(probabilities, 1e-7, None)
    return every / every.sum(1, keepdims=True)
