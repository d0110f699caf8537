"""TrainedRun: a run with its model and its data in hand; made by training a recipe or by opening a run folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.errors import RunError, SpecError
from unknot.files import write_folder
from unknot.train.loop import Result, fit
from unknot.train.processes import connect
from unknot.train.run_folder import RunFolder
from unknot.workflow.answers import with_answers
from unknot.workflow.assembly import Assembly, assemble
from unknot.workflow.hold_out import hold_out
from unknot.workflow.model_file import load_model, model_files, read_source_of
from unknot.workflow.model_source import Described, ModelSource
from unknot.workflow.predictor_file import FOLDER as PREDICTORS
from unknot.workflow.predictor_file import predictor_files
from unknot.workflow.recipe import SECTIONS, Recipe
from unknot.workflow.trained_labels import trained_labels
from unknot.workflow.trained_model import TrainedModel

if TYPE_CHECKING:
    from lightning_fabric import Fabric


@dataclass(frozen=True)
class TrainedRun:
    """A run with its data: what is needed to evaluate, predict, sample and report."""

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
    """Train a recipe in a new run folder.

    Everything that can be wrong is checked before the folder is made; a run that fails before its first checkpoint
    leaves none behind.

    Parameters
    ----------
    recipe : Recipe
        Data, labels, model and training.
    path : str or Path
        The run folder.
    data_dir : str or Path, optional
        Where known data sets lie.
    numbered : bool, default=False
        Take the first of path-1, path-2, ... that is free.
    say : callable, optional
        Called before training with the training data (without the labels outside the budget) and the test data.

    Returns
    -------
    run : TrainedRun
    result : Result
    """
    recipe = recipe.absolute()
    data = recipe.dataset(data_dir)
    test = recipe.test_data(data)
    budget, made = prepare(recipe, data)
    made = replace(made, model=replace(made.model, trained_labels=trained_labels(made.data)))
    if say is not None:
        say(made.data, test)
    if made.model.source.default is not None:  # by name, with the settings that were changed
        recipe = replace(recipe, model=made.model.source.default.to_dict())
    settings = {**recipe.to_dict(), "train": made.config.to_dict()}
    fabric = connect(made.config.device, made.config.precision)
    run = _make_folder(fabric, path, numbered, settings, budget, made)
    try:
        return _train(TrainedRun(run, recipe, made.model, made.data, test, budget), made, fabric)
    except BaseException:
        if fabric.is_global_zero:
            run.remove()
        raise


def prepare(recipe: Recipe, data: Dataset) -> tuple[LabelBudget, Assembly]:
    """Choose the labels that may be used, and assemble what is trained; whatever is wrong is refused here."""
    train = recipe.training_data(data)
    budget = recipe.budget(train)
    model = recipe.model if recipe.spec is None else Described(recipe.spec)
    return budget, _assemble(recipe, model, budget.apply(train))


def resume(
    path: str | Path, settings: Mapping[str, Any], data_dir: str | Path | None
) -> tuple[TrainedRun, Result]:
    """Continue a run.

    Parameters
    ----------
    path : str or Path
        The run folder.
    settings : mapping
        Changed settings: ``train.steps`` and the like, and ``data.file`` if the file has moved.
    data_dir : str or Path, optional
        Where known data sets lie.

    Returns
    -------
    run : TrainedRun
    result : Result
    """
    run = RunFolder.open(path)
    for key in settings:
        if not key.startswith("train.") and key != "data.file":
            raise SpecError(
                f"--set {key}: a run goes on with the data, labels and model it has; what may change are "
                "train settings and data.file, if the file has moved."
            )
    recipe = _recipe(run).with_settings(settings).absolute()
    train, test, budget = _data(run, recipe, data_dir)
    made = _assemble(recipe, read_source_of(run.path.absolute()), train)
    made = replace(made, model=replace(made.model, trained_labels=trained_labels(made.data)))
    trained = TrainedRun(run, recipe, made.model, made.data, test, budget)
    if recipe.data != run.config["data"]:
        run.write_config({**run.config, "data": dict(recipe.data)})
    return _train(trained, made, connect(made.config.device, made.config.precision))


def open_run(path: str | Path, data_dir: str | Path | None = None) -> TrainedRun:
    """Open a finished or interrupted run, with the weights of its last checkpoint."""
    run = RunFolder.open(path)
    recipe = _recipe(run)
    train, test, budget = _data(run, recipe, data_dir)
    return TrainedRun(run, recipe, load_model(run.path), train, test, budget)


def _train(trained: TrainedRun, made: Assembly, fabric: Fabric) -> tuple[TrainedRun, Result]:
    """Train the model; predictors, out-of-fold predictions and the novelty of items are written to the run."""
    train, held_out = hold_out(trained.model, made.data, made.config)
    result = fit(made.model.module, train, made.config, trained.run, held_out, fabric=fabric)
    made.model.module.eval()
    model = with_answers(trained.model, made.data, made.config, result, fabric=fabric)
    files = predictor_files(model, result.steps)
    if files and fabric.is_global_zero:
        with trained.run.explains_disk_errors(PREDICTORS):
            write_folder((trained.run.path / PREDICTORS).absolute(), files, replace=True)
    return replace(trained, model=model), result


def _make_folder(
    fabric: Fabric,
    path: str | Path,
    numbered: bool,
    settings: Mapping[str, Any],
    budget: LabelBudget,
    made: Assembly,
) -> RunFolder:
    """Make the run folder in one process; the others of ``torchrun`` wait until it is there."""
    if fabric.is_global_zero:
        create = RunFolder.create_next if numbered else RunFolder.create
        path = create(path, settings, budget, model_files(made.model)).path
    return RunFolder.open(fabric.broadcast(str(path)))


def _data(
    run: RunFolder, recipe: Recipe, data_dir: str | Path | None
) -> tuple[Dataset, Dataset | None, LabelBudget]:
    """Load the training data of a run without the labels outside the budget, its test data, and the budget."""
    budget = run.budget
    if budget is None:
        raise RunError(f"{run.path} has no label budget: it was not made by `unknot fit`.")
    data = recipe.dataset(data_dir)
    return budget.apply(recipe.training_data(data)), recipe.test_data(data), budget


def _assemble(recipe: Recipe, model: Mapping[str, Any] | ModelSource, shown: Dataset) -> Assembly:
    return assemble(shown, model, recipe.train, labels=recipe.label_rules)


def _recipe(run: RunFolder) -> Recipe:
    return Recipe.from_dict({k: v for k, v in run.config.items() if k in SECTIONS}, str(run.path))
