"""A bar over many runs in a terminal, and a line for each that has ended anywhere."""

from __future__ import annotations

import sys
from typing import Any

import typer

from unknot.train.terminal_bar import TerminalBar


class RunBar(TerminalBar):
    """So many ``runs``, some of them ``done`` before; the bar goes to the error stream, the lines to the other."""

    def __init__(self, runs: int, done: int) -> None:
        super().__init__(_bar() if sys.stderr.isatty() else None)
        self.runs, self.ended = runs, done
        if self._bar is not None:
            self._task = self._bar.add_task("runs", total=runs, completed=done)

    def end(self, line: str) -> None:
        """One run has ended; ``line`` says how."""
        self.ended += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self.ended)
            self._bar.console.print(line, highlight=False, markup=False)
        else:
            typer.echo(f"{self.ended} of {self.runs}: {line}")


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), refresh_per_second=2)
