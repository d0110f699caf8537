"""A member's work: done once, taken up where it was stopped, and only scores where only scores are missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workflow.sweep.test_member import data_file, recipe
from unknot.train.run_folder import RunFolder
from unknot.workflow.run import train_recipe
from unknot.workflow.sweep import training
from unknot.workflow.sweep.measured import MEASURED, read_measured
from unknot.workflow.sweep.member import members
from unknot.workflow.sweep.sweep import keep_files
from unknot.workflow.sweep.training import Task, train_away, train_here


@pytest.fixture
def task(tmp_path: Path) -> Task:
    described = recipe(data_file(tmp_path / "a.npz"), steps=6).with_settings({"data.test_share": 0.5})
    return Task(members(described, {}, 1)[0], tmp_path / "run", ("mig",))


def weights(folder: Path) -> bytes:
    made = RunFolder.open(folder).latest()
    assert made is not None
    return b"".join(tensor.numpy().tobytes() for _, tensor in sorted(made.part("model").items()))


def test_what_is_done_is_not_done_twice(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not task.done
    train_here(task)
    assert task.done
    found = read_measured(task.folder)
    assert found is not None
    assert set(found.scores) == {"mig"}
    assert [error.factor for error in found.errors] == ["kind"]

    def refused(*arguments: object) -> None:
        raise AssertionError("it must not train again")

    monkeypatch.setattr(training, "train_recipe", refused)
    monkeypatch.setattr(training, "resume", refused)
    more = Task(task.member, task.folder, ("mig", "mig_sup"))
    assert more.trained
    assert not more.done
    train_here(more)
    assert set(read_measured(task.folder).scores) == {"mig", "mig_sup"}


def test_a_run_that_was_stopped_goes_on_and_ends_as_an_unbroken_one(task: Task, tmp_path: Path) -> None:
    train_recipe(task.member.recipe.with_settings({"train.steps": 3}), task.folder)
    config = RunFolder.open(task.folder)
    config.write_config({**config.config, "train": {**config.config["train"], "steps": 6}})
    train_here(task)
    whole = Task(task.member, tmp_path / "whole", ("mig",))
    train_here(whole)
    assert weights(task.folder) == weights(whole.folder)


def test_a_run_trained_elsewhere_is_the_same_run(task: Task, tmp_path: Path) -> None:
    keep_files(tmp_path / "sent", train_away(task))
    assert not task.folder.exists()
    train_here(task)
    sent, here = (json.loads((place / MEASURED).read_text()) for place in (tmp_path / "sent", task.folder))
    assert {**sent, "seconds": 0} == {**here, "seconds": 0}
    assert weights(tmp_path / "sent") == weights(task.folder)
