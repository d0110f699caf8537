"""Run folders: whole, versioned, one process at a time, and safe from a full disk."""

from __future__ import annotations

import json
import multiprocessing
import resource
from pathlib import Path

import pytest
import torch

from tests.train.programs import digits, model, plain_elbo
from unknot.data.label_budget import LabelBudget
from unknot.errors import RunError
from unknot.train import Checkpoint, RunFolder, TrainConfig, fit


def _checkpoint(step: int, size: int = 8) -> Checkpoint:
    tensors = {"model.w": torch.full((size,), float(step)), "random.cpu": torch.get_rng_state()}
    return Checkpoint(step, tensors, {"seconds": 1.5})


def test_a_checkpoint_comes_back_and_the_last_two_are_kept(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    assert run.latest() is None
    for step in (5, 10, 15):
        run.save(_checkpoint(step))
    assert sorted(p.name for p in run.checkpoints.iterdir()) == ["step-000000010", "step-000000015"]
    made = RunFolder.open(run.path).latest()
    assert made is not None
    assert (made.step, made.state) == (15, {"seconds": 1.5})
    assert torch.equal(made.part("model")["w"], torch.full((8,), 15.0))


def test_no_file_of_a_run_is_a_pickle(tmp_path: Path) -> None:
    train = digits()
    budget = LabelBudget.draw(train, 0, digit=50)
    run = RunFolder.create(tmp_path / "run", {"data": "digits"}, budget)
    config = TrainConfig(objective=plain_elbo, steps=2, batch_size=32, device="cpu", average_weights=0.9)
    fit(model(), train, config, run)
    kinds = {
        p.suffix
        for p in run.path.rglob("*")
        if p.is_file() and "tfevents" not in p.name and p.name != ".lock"
    }
    assert kinds == {".json", ".yaml", ".jsonl", ".safetensors"}
    assert run.budget == budget
    made = run.latest()
    assert made is not None
    assert made.state["label_budget"]["items"]["digit"] == list(budget.items["digit"])


def test_folders_that_are_not_runs_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError, match="not empty and not a run"):
        RunFolder.create(tmp_path)
    with pytest.raises(RunError, match="not a run folder"):
        RunFolder.open(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]
    run = RunFolder.create(tmp_path / "run")
    with pytest.raises(RunError, match="holds a run already"):
        RunFolder.create(run.path)


def test_a_run_of_another_version_is_named_as_such(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    (run.path / "run.json").write_text(json.dumps({"format": 99, "unknot": "9.0"}))
    with pytest.raises(RunError, match=r"run folder of another version \(format 99, made by Unknot 9.0\)"):
        RunFolder.open(run.path)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    with run.lock(), pytest.raises(RunError, match="another process"), RunFolder.open(run.path).lock():
        pass
    with run.lock():
        pass


def _save_under_a_limit(path: str, answer: multiprocessing.SimpleQueue[str]) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    try:
        RunFolder.open(path).save(_checkpoint(2, size=100_000))
        answer.put("saved")
    except RunError as error:
        answer.put(str(error))


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: the write fails half-way through."""
    run = RunFolder.create(tmp_path / "run")
    run.save(_checkpoint(1))
    context = multiprocessing.get_context("spawn")
    answer = context.SimpleQueue()
    process = context.Process(target=_save_under_a_limit, args=(str(run.path), answer))
    process.start()
    said = answer.get()
    process.join()
    assert "could not write the checkpoint of step 2" in said
    assert "The checkpoint of step 1 is safe" in said
    made = run.latest()
    assert made is not None
    assert made.step == 1
    assert [p.name for p in run.checkpoints.iterdir()] == ["step-000000001"]


def test_trained_weights_load_into_a_new_model(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    with pytest.raises(RunError, match="no checkpoint yet"):
        run.load_weights(model())
    trained, fresh = model(), model(seed=1)
    config = TrainConfig(objective=plain_elbo, steps=4, batch_size=32, device="cpu", average_weights=0.9)
    fit(trained, digits(), config, run)
    run.load_weights(fresh)
    assert all(torch.equal(a, b) for a, b in zip(trained.parameters(), fresh.parameters(), strict=True))
    with pytest.raises(RunError, match="do not fit this model"):
        run.load_weights(model(hidden=8))


def test_numbered_runs_count_on(tmp_path: Path) -> None:
    (tmp_path / "a-2").write_text("somebody's file")
    found = [RunFolder.create_next(tmp_path / "a").path.name for _ in range(3)]
    assert found == ["a-1", "a-3", "a-4"]
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be made"):
        RunFolder.create_next(tmp_path / "file" / "a")


def test_a_run_in_which_another_process_trains_is_not_removed(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    with RunFolder.open(run.path).lock():
        run.remove()
        assert run.path.exists()
    run.save(_checkpoint(1))
    run.remove()
    assert run.path.exists()
    empty = RunFolder.create(tmp_path / "empty")
    empty.remove()
    assert not empty.path.exists()


@pytest.mark.parametrize("keep", [0, 5, 60, 90])
def test_a_truncated_config_is_not_a_shorter_config(tmp_path: Path, keep: int) -> None:
    run = RunFolder.create(tmp_path / "run", {"train": {"steps": 5}, "labels": {"digit": 10, "seed": 3}})
    assert run.config == {"train": {"steps": 5}, "labels": {"digit": 10, "seed": 3}}
    path = run.path / "config.yaml"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(RunError, match="damaged or edited by hand"):
        _ = run.config


def test_a_config_edited_by_hand_is_refused_with_the_way_to_change_it(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", {"train": {"steps": 5}})
    path = run.path / "config.yaml"
    path.write_text(path.read_text().replace("5", "6"))
    with pytest.raises(RunError, match="--set KEY=VALUE"):
        _ = run.config


def test_one_list_in_two_places_of_a_config(tmp_path: Path) -> None:
    hidden = [8, 8]
    run = RunFolder.create(tmp_path / "run", {"a": hidden, "b": hidden})
    assert run.config == {"a": [8, 8], "b": [8, 8]}
