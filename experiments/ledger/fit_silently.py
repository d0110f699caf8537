"""Training for the ledger: a recipe in a folder that is gone afterwards, and never half a training."""

from __future__ import annotations

import tempfile
from pathlib import Path

from torch import nn

from unknot.data.dataset import Dataset
from unknot.train.config import TrainConfig
from unknot.train.loop import fit
from unknot.workflow.evaluation import evaluate
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import TrainedRun, train_recipe


def train_quietly(recipe: Recipe) -> TrainedRun:
    """The trained model with its data. An interrupt leaves no model behind whose numbers someone might keep."""
    recipe = recipe.with_settings({"train.progress": False})
    with tempfile.TemporaryDirectory() as folder:
        trained, result = train_recipe(recipe, Path(folder) / "run")
    if result.stopped_because == "interrupted":
        raise KeyboardInterrupt
    return trained


def fit_wholly(model: nn.Module, data: Dataset, config: TrainConfig) -> None:
    """Train a module, in place, and leave it ready for use; an interrupt leaves nothing."""
    if fit(model, data, config).stopped_because == "interrupted":
        raise KeyboardInterrupt
    model.eval()


def error_of(trained: TrainedRun, factor: str) -> float:
    """Test error of a factor's encoder in per cent."""
    assert trained.test is not None
    found = evaluate(trained.model, trained.test)
    return 100 * next(score.value for score in found if score.factor == factor)
