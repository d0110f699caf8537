"""A run that is killed and continued ends like one that was not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from unknot.train import RunFolder
from unknot.train.checkpoint import Checkpoint


def _run(module: str, *words: str, timeout: float = 300) -> str:
    done = subprocess.run(
        [sys.executable, "-m", f"tests.train.{module}", *words],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _final(folder: Path) -> Checkpoint:
    made = RunFolder.open(folder).latest()
    assert made is not None
    return made


def _compare_killed_with_unbroken(tmp_path: Path, steps: int, kills: int) -> None:
    killed = int(_run("kill_and_resume", str(tmp_path / "killed"), str(steps), str(kills)))
    _run("kill_and_resume", str(tmp_path / "unbroken"), str(steps), "0")
    assert killed == kills  # none of them came after the end
    one, other = _final(tmp_path / "killed"), _final(tmp_path / "unbroken")
    assert one.step == other.step == steps
    assert one.tensors.keys() == other.tensors.keys()
    for name, tensor in one.tensors.items():  # weights, optimizer, averages, random states
        assert torch.equal(tensor, other.tensors[name]), name
    records = [json.loads(line) for line in (tmp_path / "killed/metrics.jsonl").read_text().splitlines()]
    expected = [json.loads(line) for line in (tmp_path / "unbroken/metrics.jsonl").read_text().splitlines()]
    for record in [*records, *expected]:
        del record["time"], record["items_per_second"]
    assert records == expected
    assert not list((tmp_path / "killed/checkpoints").glob(".*"))  # nothing half-written is left


def test_killed_five_times_ends_in_the_same_weights(tmp_path: Path) -> None:
    _compare_killed_with_unbroken(tmp_path, steps=1500, kills=5)


@pytest.mark.slow
def test_killed_twenty_times_ends_in_the_same_weights(tmp_path: Path) -> None:
    _compare_killed_with_unbroken(tmp_path, steps=6000, kills=20)
