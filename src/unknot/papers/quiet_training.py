"""Training for the ledger: a recipe in a folder that is gone afterwards, and never half a training."""

from __future__ import annotations

import tempfile
from pathlib import Path

from unknot.workflow.evaluation import recognise, scores
from unknot.workflow.recipe import Recipe
from unknot.workflow.trained import Trained, train_recipe


def train_quietly(recipe: Recipe) -> Trained:
    """The trained model with its data. An interrupt leaves no model behind whose numbers someone might keep."""
    recipe = recipe.with_settings({"train.progress": False})
    with tempfile.TemporaryDirectory() as folder:
        trained, result = train_recipe(recipe, Path(folder) / "run")
    if result.stopped_because == "interrupted":
        raise KeyboardInterrupt
    return trained


def error_of(trained: Trained, factor: str) -> float:
    """Test error of a factor's recogniser in per cent."""
    assert trained.test is not None
    found = scores(trained.model, trained.test, recognise(trained.model, trained.test))
    return 100 * next(score.value for score in found if score.factor == factor)
