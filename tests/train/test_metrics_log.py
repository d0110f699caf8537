"""The log: means since the last record, on the disk as JSON lines and events, cut where a run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from unknot.train import RunFolder
from unknot.train.metrics_log import MetricsLog, read_records


def test_a_record_is_the_mean_since_the_last_one() -> None:
    log = MetricsLog(None, world=1)
    for value in (1.0, 2.0, 6.0):
        log.add({"loss": torch.tensor(value)})
    assert log.pending
    assert log.record(3, learning_rate=0.1) == {"step": 3, "loss": 3.0, "learning_rate": 0.1}
    assert not log.pending
    log.add({"loss": torch.tensor(5.0), "new": torch.tensor(0.5)})
    assert log.record(4) == {"step": 4, "loss": 5.0, "new": 0.5}
    assert [record["step"] for record in log.history] == [3, 4]
    assert log.offset() == 0


def test_a_run_has_the_records_as_lines_and_events(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    log = MetricsLog(run, world=1)
    log.open(0, 0)
    log.add({"loss": torch.tensor(2.0)})
    log.record(1)
    assert log.offset() == run.metrics.stat().st_size
    log.close()
    assert json.loads(run.metrics.read_text()) == {"step": 1, "loss": 2.0}
    assert [path.name.startswith("events.out.tfevents") for path in run.tensorboard.iterdir()] == [True]


def test_what_a_killed_process_wrote_beyond_its_checkpoint_is_cut_off(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    kept = json.dumps({"step": 1, "loss": 2.0}) + "\n"
    run.metrics.write_text(kept + '{"step": 2, "lo')
    log = MetricsLog(run, world=1)
    log.open(len(kept), 1)
    assert log.history == [{"step": 1, "loss": 2.0}]
    log.record(2)
    log.close()
    assert [json.loads(line)["step"] for line in run.metrics.read_text().splitlines()] == [1, 2]


@pytest.mark.parametrize(
    ("damage", "steps"),
    [
        (lambda text: None, []),
        (lambda text: b"", []),
        (lambda text: text[:-3], [1]),
        (lambda text: b"\xff\x00{[" + text, []),
        (lambda text: b"5\n" + text[2:], [2]),
    ],
)
def test_a_damaged_log_costs_the_log_only(
    tmp_path: Path, damage: Callable[[bytes], bytes | None], steps: list[int]
) -> None:
    run = RunFolder.create(tmp_path / "run")
    text = b'{"step": 1}\n{"step": 2}\n'
    damaged = damage(text)
    if damaged is not None:
        run.metrics.write_bytes(damaged)
    log = MetricsLog(run, world=1)
    with pytest.warns(UserWarning, match=r"metrics.jsonl is damaged: . of its records are kept"):
        log.open(len(text), 2)
    log.record(3)
    log.close()
    assert [record["step"] for record in read_records(run)] == [*steps, 3]
    assert log.history == read_records(run)
