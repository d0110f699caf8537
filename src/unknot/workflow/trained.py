"""Trained: a run with its model and its data in hand; made by training a recipe or by opening a run folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.errors import RunError, SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.train.config import TrainConfig
from unknot.train.loop import Result, fit
from unknot.train.objective import resolve
from unknot.train.processes import connect
from unknot.train.run_folder import RunFolder
from unknot.workflow.evaluation import recognise, scores
from unknot.workflow.recipe import SECTIONS, Recipe
from unknot.workflow.saved_run import keep_model

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
    """Train a recipe in a new run folder.

    Whatever can be wrong is looked at before the folder is made; a run that fails before its first checkpoint
    leaves none behind.
    """
    recipe = _absolute(recipe)
    data = recipe.dataset(data_dir)
    budget = recipe.budget(recipe.training_data(data))
    shown = budget.apply(recipe.training_data(data))
    config = recipe.train_config(shown)
    model = _build(recipe, shown)
    resolve(config.objective, len(shown))
    run = _make_folder(path, {**recipe.to_dict(), "train": config.to_dict()}, budget, config)
    try:
        if connect(config.device, config.precision).is_global_zero:
            keep_model(run, model, shown)
        return _train(_assemble(run, recipe, data_dir, data), config)
    except BaseException:
        if run.latest() is None:
            shutil.rmtree(run.path, ignore_errors=True)
        raise


def resume(
    path: str | Path, settings: Mapping[str, Any], data_dir: str | Path | None
) -> tuple[Trained, Result]:
    """Go on with a run; settings such as train.steps may be raised, and its data may have moved."""
    run = RunFolder.open(path)
    for key in settings:
        if not key.startswith("train.") and key != "data.file":
            raise SpecError(
                f"--set {key}: a run goes on with the data, labels and model it has; what may change are "
                "train settings and data.file, if the file has moved."
            )
    recipe = _absolute(_recipe(run).with_settings(settings))
    config = TrainConfig.from_dict(recipe.train)
    trained = _assemble(run, recipe, data_dir, None)
    if recipe.data != run.config["data"]:
        run.write_config({**run.config, "data": dict(recipe.data)})
    return _train(trained, config)


def open_trained(path: str | Path, data_dir: str | Path | None = None) -> Trained:
    """A finished (or interrupted) run, with the weights of its last checkpoint."""
    run = RunFolder.open(path)
    trained = _assemble(run, _recipe(run), data_dir, None)
    run.load_weights(trained.model)
    trained.model.eval()
    return trained


def _train(trained: Trained, config: TrainConfig) -> tuple[Trained, Result]:
    train, validation = trained.train, None
    if config.patience is not None:
        kept, held_out = trained.budget.validation(trained.train, _HELD_OUT, seed=config.seed)
        held = held_out.apply(trained.train)
        train = kept.apply(trained.train)
        validation = lambda model: _validation_score(model, held)  # noqa: E731
    result = fit(trained.model, train, config, trained.run, validation)
    trained.model.eval()
    return trained, result


def _make_folder(
    path: str | Path, settings: Mapping[str, Any], budget: LabelBudget, config: TrainConfig
) -> RunFolder:
    """The run folder; of several processes the first one makes it, and the others wait until it is there."""
    fabric = connect(config.device, config.precision)
    path = fabric.broadcast(str(path))
    if fabric.is_global_zero:
        RunFolder.create(path, settings, budget)
    fabric.barrier()
    return RunFolder.open(path)


def _assemble(run: RunFolder, recipe: Recipe, data_dir: str | Path | None, data: Dataset | None) -> Trained:
    data = recipe.dataset(data_dir) if data is None else data
    train = recipe.training_data(data)
    budget = run.budget
    if budget is None:
        raise RunError(f"{run.path} has no label budget: it was not made by `unknot fit`.")
    shown = budget.apply(train)
    return Trained(run, recipe, _build(recipe, shown), shown, recipe.test_data(data), budget)


def _build(recipe: Recipe, shown: Dataset) -> GraphicalModel:
    """The model with its first weights, drawn from the run's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(recipe.train.get("seed", 0)))
        return recipe.build_model(shown)


def _recipe(run: RunFolder) -> Recipe:
    return Recipe.from_dict({k: v for k, v in run.config.items() if k in SECTIONS}, str(run.path))


def _absolute(recipe: Recipe) -> Recipe:
    """The recipe with the whole path of its data file, so that a run can be used from any folder."""
    if "file" not in recipe.data:
        return recipe
    return replace(recipe, data={**recipe.data, "file": str(Path(str(recipe.data["file"])).absolute())})


def _validation_score(model: torch.nn.Module, held: Dataset) -> float:
    """Mean over factors of the share of right classes, or minus the error, on held-out labels alone."""
    assert isinstance(model, GraphicalModel)
    rows = torch.stack([factor.known for factor in held.factors.values()]).any(0)
    part = held.subset(rows)
    found = scores(model, part, recognise(model, part))
    return -sum(score.value for score in found) / max(len(found), 1)
