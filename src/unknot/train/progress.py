"""Progress: a bar with the time left and the latest terms in a terminal, a line now and then anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

# A bar in a terminal: it appears with a ``with`` block and goes with it; anywhere else there is none.


class TerminalBar:
    """What shows progress with a bar, ``bar``, of rich, or without one."""

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


_SILENCE = 15.0  # seconds between two lines where there is no terminal
_BESIDE = 46  # columns of a terminal that the bar, the steps, the time and the rate take
_HIDDEN = ("step", "epoch", "time", "items_per_second", "learning_rate")


class Progress(TerminalBar):
    """The steps of a run on the error stream: a bar of one line, or a line every ``_SILENCE`` seconds in a file."""

    def __init__(self, steps: int, start: int, batch_size: int, show: bool) -> None:
        super().__init__(_bar() if show and sys.stderr.isatty() else None)
        self.steps = steps
        self.batch_size = batch_size
        self._seen = (start, time.perf_counter())
        self._lines = show and not sys.stderr.isatty()
        self._said = self._seen
        if self._bar is not None:
            self._task = self._bar.add_task("", total=steps, completed=start, rate="", terms="")

    def items_per_second(self, step: int) -> float:
        """Speed since the last call."""
        now = time.perf_counter()
        before, then = self._seen
        self._seen = (step, now)
        return (step - before) * self.batch_size / max(now - then, 1e-9)

    def show(self, step: int, record: Mapping[str, Any], rate: float) -> None:
        """Move the bar and write the latest terms, or a line if none was written for a while."""
        if self._bar is not None:
            terms = terms_text(record, max(self._bar.console.width - _BESIDE, 0))
            self._bar.update(self._task, completed=step, terms=terms, rate=f"{rate:,.0f}/s")
        elif self._lines and time.perf_counter() - self._said[1] >= _SILENCE:
            before, then = self._said
            self._said = (step, time.perf_counter())
            left = (self.steps - step) * (self._said[1] - then) / max(step - before, 1)
            print(f"step {step:,} of {self.steps:,}, about {left:,.0f} s left  {terms_text(record, 40)}",
                  file=sys.stderr, flush=True)  # fmt: skip


def terms_text(record: Mapping[str, Any], width: int) -> str:
    """The first terms that fit into ``width`` characters, whole ones only.

    >>> terms_text({"step": 50, "loss": 1.25, "kl[digit]": 0.5, "kl[style]": 8.0}, 24)
    'loss 1.25  kl[digit] 0.5'
    """
    text = ""
    for name, value in record.items():
        if name in _HIDDEN:
            continue
        longer = f"{text}  {name} {value:.4g}".lstrip()
        if len(longer) > width:
            break
        text = longer
    return text


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    # The names of terms have brackets, which rich would take for its own markup.
    columns = (
        BarColumn(12),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TextColumn("{task.fields[terms]}", markup=False),
    )
    return Bar(*columns, console=Console(stderr=True), refresh_per_second=4)
