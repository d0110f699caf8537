"""Runs of recipes: made, failed, gone on with, opened."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from unknot.errors import RunError
from unknot.train.run_folder import RunFolder
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import open_run, resume, train_recipe


def recipe(**train: object) -> Recipe:
    settings = {"steps": 4, "batch_size": 50, "log_every": 2, **train}
    return Recipe({"name": "digits"}, {"digit": 40}, {"style": 2, "width": 16}, settings)


def test_a_trained_model_is_the_one_that_is_opened(tmp_path: Path) -> None:
    trained, result = train_recipe(recipe(), tmp_path / "run")
    assert (result.steps, result.stopped_because) == (4, "finished")
    opened = open_run(tmp_path / "run")
    assert not opened.model.module.training
    for name, tensor in trained.model.module.state_dict().items():
        torch.testing.assert_close(tensor, opened.model.module.state_dict()[name], rtol=0, atol=0)
    assert opened.train.factors["digit"].known.sum() == 40
    assert opened.test is not None
    assert bool(opened.test.factors["digit"].known.all())


def test_the_global_generator_is_left_alone(tmp_path: Path) -> None:
    before = torch.get_rng_state()
    train_recipe(recipe(), tmp_path / "run")
    open_run(tmp_path / "run")
    assert torch.equal(before, torch.get_rng_state())


def test_a_failure_after_a_checkpoint_keeps_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unknot.workflow import run as module

    def stop_late(*arguments: object) -> None:
        module_fit(*arguments)
        raise RunError("too late")

    module_fit = module.fit
    monkeypatch.setattr(module, "fit", stop_late)
    with pytest.raises(RunError, match="too late"):
        train_recipe(recipe(), tmp_path / "run")
    assert RunFolder.open(tmp_path / "run").latest() is not None


def test_early_stopping_keeps_the_best_weights_through_a_resumption(tmp_path: Path) -> None:
    settings = {"patience": 50, "validate_every": 2}
    whole, _ = train_recipe(recipe(**settings, steps=8), tmp_path / "whole")
    train_recipe(recipe(**settings, steps=4), tmp_path / "parts")
    parts, _ = resume(tmp_path / "parts", {"train.steps": 8}, None)
    for name, tensor in whole.model.module.state_dict().items():
        torch.testing.assert_close(tensor, parts.model.module.state_dict()[name], rtol=0, atol=0)


def test_a_run_without_a_budget_is_not_ours(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", {"data": {"name": "digits"}})
    with pytest.raises(RunError, match="has no label budget"):
        open_run(tmp_path / "run")
