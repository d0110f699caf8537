"""MetricsLog: means of every term since the last record, as JSON lines, TensorBoard events and a list."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from typing import IO, Any

import torch
from torch import Tensor

from unknot.files import write_file
from unknot.train.processes import mean_over_processes
from unknot.train.run_folder import RunFolder


class MetricsLog:
    """Adds up each step's values on the device, and reads them only when a record is due.

    ``history`` is the list of records. With a run folder they also go to metrics.jsonl and TensorBoard.
    """

    def __init__(self, run: RunFolder | None, world: int) -> None:
        self.run = run
        self.world = world
        self.history: list[dict[str, Any]] = []
        self._names: tuple[str, ...] = ()
        self._sum: Tensor | None = None
        self._steps = 0
        self._lines: IO[bytes] | None = None
        self._events: Any = None

    def open(self, offset: int, step: int) -> None:
        """Go on after ``offset`` bytes of metrics.jsonl; what a killed process wrote beyond is cut off."""
        if self.run is None:
            return
        from torch.utils.tensorboard import SummaryWriter

        with self.run.explains_disk_errors("metrics.jsonl"):
            self._keep(self.run, offset)
            self._lines = open(self.run.metrics, "ab")  # noqa: SIM115 (open until the run ends)
            self._events = SummaryWriter(str(self.run.tensorboard), purge_step=step + 1)

    def _keep(self, run: RunFolder, offset: int) -> None:
        """Read the first ``offset`` bytes and cut off the rest. A damaged log is no reason not to go on."""
        content = run.metrics.read_bytes() if run.metrics.exists() else b""
        lines = content[:offset].splitlines(keepends=True)
        good = [(line, record) for line in lines if (record := _record(line)) is not None]
        self.history = [record for _, record in good]
        kept = b"".join(line for line, _ in good)
        if len(kept) != offset:
            told = f"{run.metrics} is damaged: {len(good)} of its records are kept, and the run goes on."
            warnings.warn(told, stacklevel=2)
        if kept != content:
            write_file(run.metrics, kept)

    def add(self, means: Mapping[str, Tensor]) -> None:
        """One step's values."""
        names = tuple(means)
        values = torch.stack(list(means.values()))
        if names != self._names or self._sum is None:
            self._names, self._sum, self._steps = names, values, 1
        else:
            self._sum += values
            self._steps += 1

    @property
    def pending(self) -> bool:
        """Whether steps have been added since the last record."""
        return self._steps > 0

    def record(self, step: int, **more: float) -> dict[str, Any]:
        """Close a record of the means since the last one; ``more`` are values of this step alone."""
        means: dict[str, float] = {}
        if self._sum is not None and self._steps:
            numbers = mean_over_processes(self._sum / self._steps, self.world).tolist()
            means = dict(zip(self._names, numbers, strict=True))
        self._sum, self._steps = None, 0
        record = {"step": step, **means, **more}
        self.history.append(record)
        if self.run is not None and self._lines is not None:
            with self.run.explains_disk_errors("metrics.jsonl"):
                self._lines.write((json.dumps(record) + "\n").encode())
                self._lines.flush()
                for name, value in record.items():
                    if name != "step":
                        self._events.add_scalar(name, value, step)
        return record

    def offset(self) -> int:
        """Bytes of metrics.jsonl, after they are safe on the disk: what a checkpoint remembers."""
        if self._lines is None or self.run is None:
            return 0
        with self.run.explains_disk_errors("metrics.jsonl"):
            os.fsync(self._lines.fileno())
        return self._lines.seek(0, os.SEEK_END)

    def close(self) -> None:
        if self._lines is not None:
            self._lines.close()
        if self._events is not None:
            self._events.close()


def read_records(run: RunFolder) -> list[dict[str, Any]]:
    """The records of a run's metrics.jsonl; damaged lines are passed over."""
    lines = run.metrics.read_bytes().splitlines(keepends=True) if run.metrics.is_file() else []
    return [record for line in lines if (record := _record(line)) is not None]


def _record(line: bytes) -> dict[str, Any] | None:
    """The record in a line of the log, or None if it is damaged."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = line.endswith(b"\n") and isinstance(found, dict) and isinstance(found.get("step"), int)
    return found if whole else None
