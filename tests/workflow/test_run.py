"""Runs of recipes: made, failed, gone on with, opened."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from unknot.errors import RunError
from unknot.train.run_folder import RunFolder
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import open_run, resume, train_recipe


def recipe(**train: object) -> Recipe:
    settings = {"steps": 4, "batch_size": 50, "log_every": 2, **train}
    return Recipe(
        {"name": "digits"},
        {"budget": {"digit": 40}},
        {"kind": "class_style", "style": 2, "width": 16},
        settings,
    )


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

    def stop_late(*arguments: Any, **more: Any) -> None:
        module_fit(*arguments, **more)
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


# ---- several at once, and damage ------------------------------------------------------------------------


def _start_at_once(folder: Path, count: int) -> list[int]:
    """As many processes, which wait for each other and then train numbered runs; their exit codes."""
    ready, go = os.pipe(), os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.write(ready[1], b"x")
                os.read(go[0], 1)
                train_recipe(recipe(steps=1, progress=False), folder / "runs" / "s", numbered=True)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    for _ in children:
        os.read(ready[0], 1)
    os.write(go[1], b"x" * count)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.parametrize("count", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_runs_that_start_at_once_each_have_their_own_folder(tmp_path: Path, count: int) -> None:
    train_recipe(recipe(steps=1), tmp_path / "first")  # whatever is imported or read once
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of forking beside the threads of other libraries
        assert _start_at_once(tmp_path, count) == [0] * count
    names = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert names == sorted(f"s-{number}" for number in range(1, count + 1))
    for name in names:
        made = RunFolder.open(tmp_path / "runs" / name).latest()
        assert made is not None
        assert made.step == 1
        assert (tmp_path / "runs" / name / "model.json").exists()


def test_a_run_that_fails_at_once_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unknot.workflow import run as module

    def stop(*arguments: object, **more: object) -> None:
        raise RunError("at once")

    monkeypatch.setattr(module, "fit", stop)
    with pytest.raises(RunError, match="at once"):
        train_recipe(recipe(), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_going_back_to_an_older_checkpoint_is_said_aloud(tmp_path: Path) -> None:
    whole, _ = train_recipe(recipe(steps=4, checkpoint_every=2), tmp_path / "run")
    newest = tmp_path / "run" / "checkpoints" / "step-000000004"
    (newest / "state.json").write_text((newest / "state.json").read_text().replace('"step": 4', '"step": 9'))
    with pytest.warns(UserWarning, match=r"step-000000004 is damaged.*going back to step-000000002"):
        again, result = resume(tmp_path / "run", {}, None)
    assert result.steps == 4
    for name, tensor in whole.model.module.state_dict().items():
        torch.testing.assert_close(tensor, again.model.module.state_dict()[name], rtol=0, atol=0)
