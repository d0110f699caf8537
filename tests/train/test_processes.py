"""Several processes train the model that one process trains with the same global batch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from unknot.errors import SpecError
from unknot.train import Checkpoint, RunFolder
from unknot.train.processes import connect, part, share_of


def _train(path: Path, objective: dict[str, object], processes: int) -> Checkpoint:
    run = RunFolder.create(path)
    words = ["-m", "tests.train.train_in_processes", str(path), json.dumps(objective)]
    if processes > 1:
        words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", *words]
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = run.latest()
    assert made is not None
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "objective",
    [{"name": "semi_supervised", "alpha": 10.0, "gamma": 1.0}, {"name": "hfvae", "beta": 4.0, "gamma": 3.0}],
    ids=lambda objective: objective["name"],
)
def test_two_processes_give_the_model_of_one(tmp_path: Path, objective: dict[str, object]) -> None:
    one, two = _train(tmp_path / "one", objective, 1), _train(tmp_path / "two", objective, 2)
    assert one.step == two.step == 20
    for name, weight in one.part("model").items():
        torch.testing.assert_close(two.part("model")[name], weight, rtol=0, atol=1e-5, msg=name)
    for name, state in one.part("random").items():  # both drew the same noise
        assert torch.equal(two.part("random")[name], state)
    lines = [(tmp_path / name / "metrics.jsonl").read_text().splitlines() for name in ("one", "two")]
    for mine, theirs in zip(*[[json.loads(line) for line in one_of] for one_of in lines], strict=True):
        assert mine["loss"] == pytest.approx(theirs["loss"], rel=1e-4)


def test_a_global_batch_must_divide() -> None:
    assert share_of(64, 2) == 32
    with pytest.raises(SpecError, match=r"batch_size 63 .* number, 2; for instance 62"):
        share_of(63, 2)


def test_a_device_that_is_not_there_is_named() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(SpecError, match="device 'cuda'"):
        connect("cuda", "32-true")


def test_one_process_has_nobody_to_part_from() -> None:
    part()
    assert not torch.distributed.is_initialized()
