"""Trained: a run with its model and its data in hand; made by training a recipe or by opening a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.errors import RunError
from unknot.experiments.evaluation import recognise, scores
from unknot.experiments.recipe import SECTIONS, Recipe
from unknot.models.graphical_model import GraphicalModel
from unknot.train.loop import Result, fit
from unknot.train.run_folder import RunFolder

_HELD_OUT = 0.2  # share of the labelled budget that early stopping listens to


@dataclass(frozen=True)
class Trained:
    """What is needed to evaluate, predict, sample and report."""

    run: RunFolder
    recipe: Recipe
    model: GraphicalModel
    train: Dataset  # labels outside the budget are gone
    test: Dataset | None
    budget: LabelBudget


def train_recipe(
    recipe: Recipe, path: str | Path, data_dir: str | Path | None = None
) -> tuple[Trained, Result]:
    """Train a recipe in a new run folder."""
    data = recipe.dataset(data_dir)
    train = recipe.training_data(data)
    budget = recipe.budget(train)
    config = recipe.train_config(budget.apply(train))
    run = RunFolder.create(path, {**recipe.to_dict(), "train": config.to_dict()}, budget)
    return _train(run, data_dir, data)


def resume(
    path: str | Path, settings: Mapping[str, Any], data_dir: str | Path | None
) -> tuple[Trained, Result]:
    """Go on with a run; settings such as train.steps may be raised."""
    run = RunFolder.open(path)
    if settings:
        recipe = _recipe(run).with_settings(settings)
        run.write_config({**run.config, **recipe.to_dict()})
    return _train(run, data_dir, None)


def open_trained(path: str | Path, data_dir: str | Path | None = None) -> Trained:
    """A finished (or interrupted) run, with the weights of its last checkpoint."""
    run = RunFolder.open(path)
    trained = _assemble(run, data_dir, None)
    run.load_weights(trained.model)
    trained.model.eval()
    return trained


def _train(run: RunFolder, data_dir: str | Path | None, data: Dataset | None) -> tuple[Trained, Result]:
    trained = _assemble(run, data_dir, data)
    config = trained.recipe.train_config(trained.train)
    train, validation = trained.train, None
    if config.patience is not None:
        kept, held_out = trained.budget.validation(trained.train, _HELD_OUT, seed=config.seed)
        held = held_out.apply(trained.train)
        train = kept.apply(trained.train)
        validation = lambda model: _validation_score(model, held)  # noqa: E731
    result = fit(trained.model, train, config, run, validation)
    trained.model.eval()
    return trained, result


def _assemble(run: RunFolder, data_dir: str | Path | None, data: Dataset | None) -> Trained:
    recipe = _recipe(run)
    data = recipe.dataset(data_dir) if data is None else data
    train = recipe.training_data(data)
    budget = run.budget
    if budget is None:
        raise RunError(f"{run.path} has no label budget: it was not made by `unknot fit`.")
    shown = budget.apply(train)
    torch.manual_seed(int(recipe.train.get("seed", 0)))
    return Trained(run, recipe, recipe.build_model(shown), shown, recipe.test_data(data), budget)


def _recipe(run: RunFolder) -> Recipe:
    return Recipe.from_dict({k: v for k, v in run.config.items() if k in SECTIONS}, str(run.path))


def _validation_score(model: torch.nn.Module, held: Dataset) -> float:
    """Mean over factors of the share of right classes, or minus the error, on held-out labels alone."""
    assert isinstance(model, GraphicalModel)
    rows = torch.stack([factor.known for factor in held.factors.values()]).any(0)
    part = held.subset(rows)
    found = scores(model, part, recognise(model, part))
    return -sum(score.value for score in found) / max(len(found), 1)
