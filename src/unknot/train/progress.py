"""The progress bar: terms, items a second and the time left; silent where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any


class Progress:
    """A bar over the steps of a run, drawn on the error stream if that is a terminal."""

    def __init__(self, steps: int, start: int, batch_size: int, show: bool) -> None:
        self.steps = steps
        self.batch_size = batch_size
        self._bar: Any = None
        self._seen = (start, time.perf_counter())
        if show and sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task("", total=steps, completed=start, rate="", terms="")

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def items_per_second(self, step: int) -> float:
        """Speed since the last call."""
        now = time.perf_counter()
        before, then = self._seen
        self._seen = (step, now)
        return (step - before) * self.batch_size / max(now - then, 1e-9)

    def show(self, step: int, record: Mapping[str, Any], rate: float) -> None:
        """Move the bar and write the latest terms."""
        if self._bar is None:
            return
        hidden = ("step", "epoch", "time", "items_per_second", "learning_rate")
        terms = "  ".join(f"{name} {value:.4g}" for name, value in record.items() if name not in hidden)
        self._bar.update(self._task, completed=step, terms=terms, rate=f"{rate:,.0f} items/s")


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[terms]}"),
    )
    return Bar(*columns, console=Console(stderr=True), refresh_per_second=4)
