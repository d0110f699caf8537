"""TrainedRun: a run with its model and its data in hand; made by training a recipe or by opening a run folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.errors import RunError, SpecError
from unknot.train.config import TrainConfig
from unknot.train.loop import Result, fit
from unknot.train.processes import connect
from unknot.train.run_folder import RunFolder
from unknot.workflow.assembly import Assembly, assemble, kept_default
from unknot.workflow.hold_out import hold_out
from unknot.workflow.model_file import model_files, read_description
from unknot.workflow.nested import with_paths
from unknot.workflow.recipe import SECTIONS, Recipe
from unknot.workflow.trained_labels import trained_labels
from unknot.workflow.trained_model import TrainedModel


@dataclass(frozen=True)
class TrainedRun:
    """What is needed to evaluate, predict, sample and report."""

    run: RunFolder
    recipe: Recipe
    model: TrainedModel
    train: Dataset  # labels outside the budget are gone
    test: Dataset | None
    budget: LabelBudget


def train_recipe(
    recipe: Recipe,
    path: str | Path,
    data_dir: str | Path | None = None,
    numbered: bool = False,
    say: Callable[[Dataset, Dataset | None], None] | None = None,
) -> tuple[TrainedRun, Result]:
    """Train a recipe in a new run folder: ``path``, or, ``numbered``, the first of path-1, path-2, ... that is free.

    ``say`` is called with the training data (labels outside the budget gone) and the test data before training.
    Whatever can be wrong is looked at before the folder is made; a run that fails before its first checkpoint
    leaves none behind.
    """
    recipe = recipe.absolute()
    data = recipe.dataset(data_dir)
    budget, made = prepare(recipe, data)
    made = replace(made, model=replace(made.model, trained_labels=trained_labels(made.data)))
    if say is not None:
        say(made.data, recipe.test_data(data))
    if not recipe.model:  # a run that is resumed keeps the default it began with
        recipe = replace(recipe, model=kept_default(made.model.source))
    settings = {**recipe.to_dict(), "train": made.config.to_dict()}
    run, ours = _make_folder(path, numbered, settings, budget, made)
    try:
        trained = TrainedRun(run, recipe, made.model, made.data, recipe.test_data(data), budget)
        return trained, _train(trained, made, made.config)
    except BaseException:
        if ours:
            run.remove()
        raise


def prepare(recipe: Recipe, data: Dataset) -> tuple[LabelBudget, Assembly]:
    """The labels that may be seen, and what is trained; whatever is wrong with a recipe is refused here."""
    budget = recipe.budget(recipe.training_data(data))
    return budget, _assemble(recipe, budget.apply(recipe.training_data(data)))


def resume(
    path: str | Path, settings: Mapping[str, Any], data_dir: str | Path | None
) -> tuple[TrainedRun, Result]:
    """Go on with a run; settings such as train.steps may be raised, and its data may have moved."""
    run = RunFolder.open(path)
    for key in settings:
        if not key.startswith("train.") and key != "data.file":
            raise SpecError(
                f"--set {key}: a run goes on with the data, labels and model it has; what may change are "
                "train settings and data.file, if the file has moved."
            )
    recipe = _recipe(run).with_settings(settings).absolute()
    trained, made = _open(run, recipe, data_dir)
    if recipe.data != run.config["data"]:
        run.write_config({**run.config, "data": dict(recipe.data)})
    return trained, _train(trained, made, TrainConfig.from_dict(recipe.train))


def open_run(path: str | Path, data_dir: str | Path | None = None) -> TrainedRun:
    """A finished (or interrupted) run, with the weights of its last checkpoint."""
    run = RunFolder.open(path)
    trained, made = _open(run, _recipe(run), data_dir)
    run.load_weights(made.model.module)
    made.model.module.eval()
    return trained


def _train(trained: TrainedRun, made: Assembly, config: TrainConfig) -> Result:
    train, held_out = hold_out(trained.model, made.data, config)
    result = fit(made.model.module, train, config, trained.run, held_out)
    made.model.module.eval()
    return result


def _make_folder(
    path: str | Path, numbered: bool, settings: Mapping[str, Any], budget: LabelBudget, made: Assembly
) -> tuple[RunFolder, bool]:
    """The run folder, and whether this process made it; the others of ``torchrun`` wait until it is there."""
    fabric = connect(made.config.device, made.config.precision)
    if fabric.is_global_zero:
        create = RunFolder.create_next if numbered else RunFolder.create
        path = create(path, settings, budget, model_files(made.model)).path
    return RunFolder.open(fabric.broadcast(str(path))), fabric.is_global_zero


def _open(run: RunFolder, recipe: Recipe, data_dir: str | Path | None) -> tuple[TrainedRun, Assembly]:
    budget = run.budget
    if budget is None:
        raise RunError(f"{run.path} has no label budget: it was not made by `unknot fit`.")
    data = recipe.dataset(data_dir)
    made = _assemble(recipe, budget.apply(recipe.training_data(data)))
    return TrainedRun(run, recipe, made.model, made.data, recipe.test_data(data), budget), made


def _assemble(recipe: Recipe, shown: Dataset) -> Assembly:
    asked = [name for name in recipe.labels if name != "seed"]
    return assemble(shown, recipe.model, recipe.train, labels=asked)


def _recipe(run: RunFolder) -> Recipe:
    recipe = Recipe.from_dict({k: v for k, v in run.config.items() if k in SECTIONS}, str(run.path))
    if "program" not in recipe.model:
        return recipe
    # the program and the models it nests as they were when the run was made
    kept = read_description(run.path)["model"]
    return replace(recipe, model=with_paths(kept, lambda one: run.path.absolute() / one))
