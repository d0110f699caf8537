"""Kills aimed at every write, rename, flush and removal of a training and of a save: before each one and after it."""

from __future__ import annotations

import builtins
import io
import os
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unknot import files
from unknot.data.readers.csv_cells import write_table
from unknot.data.readers.npz import mapped_array
from unknot.data.readers.table_cells import stored_cells
from unknot.data.readers.table_files import open_table
from unknot.errors import RunError
from unknot.workflow.model_file import load_model, save_model
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import resume, train_recipe

AIMED_AT = [  # pathlib, shutil and tempfile come down to these
    *((os, name) for name in ("rename", "replace", "mkdir", "unlink", "rmdir", "fsync", "ftruncate")),
    (files, "_swapped"),
]


class AimedStream:
    """A stream that is being written, and every write of which is a moment."""

    def __init__(self, stream: Any, aimed: Callable[..., Any]) -> None:
        self._stream, self._write = stream, aimed(self._written)

    def _written(self, content: Any) -> int:
        count = self._stream.write(content)
        self._stream.flush()  # so that a kill afterwards finds it in the file
        return count

    def write(self, content: Any) -> int:
        return self._write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> AimedStream:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()


def recipe(seed: int = 0) -> Recipe:
    train = {
        "steps": 2,
        "batch_size": 50,
        "checkpoint_every": 1,
        "log_every": 1,
        "progress": False,
        "seed": seed,
    }
    return Recipe(
        {"name": "digits"}, {"budget": {"digit": 20}}, {"kind": "class_style", "style": 2, "width": 8}, train
    )


def _moments(work: Callable[[], Any], kill_at: int | None) -> int:
    """Do the work in a child that is killed at one of its moments; how many there were, if it was not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        count = 0

        def moment() -> None:
            nonlocal count
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1

        def aimed(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **more: Any) -> Any:
                moment()
                result = function(*arguments, **more)
                moment()
                return result

            return call

        for owner, name in AIMED_AT:
            setattr(owner, name, aimed(getattr(owner, name)))
        opened = io.open

        def open_aimed(file: Any, mode: str = "r", *arguments: Any, **more: Any) -> Any:
            stream = opened(file, mode, *arguments, **more)
            ours = (
                threading.current_thread() is threading.main_thread()
            )  # others write the events of TensorBoard
            return AimedStream(stream, aimed) if ours and set(mode) & set("wax+") else stream

        io.open = builtins.open = open_aimed  # type: ignore[assignment]
        try:
            work()
        finally:
            os.write(writing, str(count).encode())
            os._exit(0)
    os.close(writing)
    said = os.read(reading, 20)
    os.close(reading)
    os.waitpid(child, 0)
    return int(said or b"-1")


def _weights(path: Path) -> dict[str, torch.Tensor]:
    return load_model(path).module.state_dict()


def _same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(tensor, other[name]) for name, tensor in one.items())


pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # of forking beside other libraries' threads
every = pytest.mark.parametrize("stride", [31, pytest.param(1, marks=pytest.mark.slow)])


@every
def test_a_training_killed_at_any_moment_is_whole_or_not_there(tmp_path: Path, stride: int) -> None:
    whole, _ = train_recipe(recipe(), tmp_path / "whole")
    expected = whole.model.module.state_dict()
    count = _moments(lambda: train_recipe(recipe(), tmp_path / "counted"), None)
    assert count > 20
    for moment in range(0, count, stride):
        path = tmp_path / f"run-{moment}"
        assert _moments(lambda path=path: train_recipe(recipe(), path), moment) == -1  # type: ignore[misc]
        if path.exists():
            resume(path, {}, None)
        else:
            train_recipe(recipe(), path)  # nothing is in its way
        assert _same(expected, _weights(path)), f"killed at moment {moment}"
        shutil.rmtree(path)


@every
@pytest.mark.parametrize("swap", [True, False])
def test_a_save_killed_at_any_moment_leaves_the_old_model_or_the_new(
    tmp_path: Path, stride: int, swap: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not swap:
        monkeypatch.setattr(files, "_swapped", lambda new, target: False)
    old, _ = train_recipe(recipe(), tmp_path / "old")
    new, _ = train_recipe(recipe(seed=1), tmp_path / "new")
    target = tmp_path / "model"
    save_model(old.model, target)
    count = _moments(lambda: save_model(new.model, target), None)
    assert count > 5
    for moment in range(0, count, max(1, stride // 9)):
        save_model(old.model, target)
        _moments(lambda: save_model(new.model, target), moment)
        found = _weights(target)
        assert _same(found, old.model.module.state_dict()) or _same(found, new.model.module.state_dict())


def test_a_table_killed_at_any_moment_is_the_old_one_or_the_new(tmp_path: Path) -> None:
    """What `predict` and `sample` write."""
    path, old, new = tmp_path / "t.csv", [["1"]] * 8, [["2"]] * 8
    count = _moments(lambda: write_table(tmp_path / "counted.csv", ["a"], new), None)
    assert count > 16  # each row is a write
    for moment in range(count):
        write_table(path, ["a"], old)
        _moments(lambda: write_table(path, ["a"], new), moment)
        assert path.read_text().splitlines()[1:] in (["1"] * 8, ["2"] * 8), f"killed at moment {moment}"


def _stored(path: Path) -> np.ndarray:
    return stored_cells(path, lambda: open_table(path)).numbers


@pytest.mark.parametrize("read", [_stored, lambda path: mapped_array(path, "x")])
def test_a_cache_killed_at_any_moment_is_made_again(
    read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables and packed arrays that are decoded into the cache."""
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / ("t.csv" if read is _stored else "t.npz")
    (tmp_path / "t.csv").write_text("a,b\n" + "1,x\n" * 20)
    np.savez_compressed(tmp_path / "t.npz", x=np.arange(20))
    expected = np.array(read(path))
    shutil.rmtree(tmp_path / "cache")
    count = _moments(lambda: read(path), None)
    assert count > 5
    for moment in range(count):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        _moments(lambda: read(path), moment)
        np.testing.assert_array_equal(read(path), expected)


def test_a_run_folder_without_its_description_says_so(tmp_path: Path) -> None:
    train_recipe(recipe(), tmp_path / "run")
    (tmp_path / "run" / "model.json").unlink()
    with pytest.raises(RunError, match="holds no model"):
        load_model(tmp_path / "run")
