"""A sweep does what is missing, keeps what is done, and says which runs are not its own."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.workflow.sweep.test_member import data_file, recipe
from unknot.train.run_folder import RunFolder
from unknot.workflow.run import train_recipe
from unknot.workflow.sweep import sweep as module
from unknot.workflow.sweep import sweep as training
from unknot.workflow.sweep.measured import MEASURED, read_measured
from unknot.workflow.sweep.member import members
from unknot.workflow.sweep.sweep import Sweep, Task, keep_files, train_away, train_here


def made(tmp_path: Path, seeds: int, steps: tuple[int, ...] = (2, 4)) -> Sweep:
    described = recipe(data_file(tmp_path / "a.npz"))
    return Sweep(members(described, {"train.steps": steps}, seeds), tmp_path / "sweep")


def test_more_seeds_fill_gaps_only_and_an_interrupt_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    train = module.train_here

    def counted(task: module.Task) -> None:
        if len(done) == 3 and "interrupted" not in done:
            done.append("interrupted")
            raise KeyboardInterrupt
        train(task)
        done.append(task.member.title)

    monkeypatch.setattr(module, "train_here", counted)
    assert [error for _, error in made(tmp_path, 1).run(1)] == [None, None]
    two = made(tmp_path, 2)
    with pytest.raises(KeyboardInterrupt):
        list(two.run(1))
    assert len(two.finished()) == 3
    assert [member.title for member, _ in two.run(1)] == ["steps = 4, seed 1"]
    assert len(done) == len(set(done)) == 5
    assert two.tasks() == []
    assert made(tmp_path, 1, (2,)).others() == 3


def test_a_failure_is_one_runs_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = module.train_here

    def failing(task: module.Task) -> None:
        if task.member.point["train.steps"] == 2:
            raise ValueError("not today")
        train(task)

    monkeypatch.setattr(module, "train_here", failing)
    sweep = made(tmp_path, 1)
    assert [str(error) for _, error in sweep.run(1)] == ["not today", "None"]
    assert [run.member.title for run in sweep.finished()] == ["steps = 4, seed 0"]


def test_files_take_the_place_of_what_an_interrupted_run_left(tmp_path: Path) -> None:
    keep_files(tmp_path / "run", {"a": b"1", "checkpoints/b": b"2"})
    keep_files(tmp_path / "run", {"a": b"3"})
    assert [(path.name, path.read_bytes()) for path in (tmp_path / "run").iterdir()] == [("a", b"3")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.usefixtures("two_ray_workers")
def test_a_cluster_fills_the_same_folder_though_a_worker_is_killed(tmp_path: Path) -> None:
    """Runs are long enough that one is under way when its worker dies; it begins anew, and ends as it does here."""
    away, here = made(tmp_path, 2, (300, 400)), made(tmp_path, 1, (300,))
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_training_worker, args=(killed,))
    killer.start()
    assert [error for _, error in away.run(1, "auto")] == [None] * 4
    killer.join()
    assert len(killed) == 1
    assert away.tasks() == []
    again = Sweep(here.members, tmp_path / "here")
    assert [error for _, error in again.run(1)] == [None]
    assert weights(again.folder(here.members[0])) == weights(away.folder(here.members[0]))


def kill_a_training_worker(killed: list[int]) -> None:
    """Kill the first process of Ray that runs a task of ours."""
    end = time.monotonic() + 120
    while not killed and time.monotonic() < end:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                name = path.read_bytes()
            except OSError:
                continue
            if name.startswith(b"ray::_in_one_thread"):
                time.sleep(0.5)
                os.kill(int(path.parent.name), signal.SIGKILL)
                killed.append(int(path.parent.name))
                break
        time.sleep(0.05)


# A member's work: done once, taken up where it was stopped, and only scores where only scores are missing.


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
