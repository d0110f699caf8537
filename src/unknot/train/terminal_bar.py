"""A bar in a terminal: it appears with a ``with`` block and goes with it; anywhere else there is none."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self


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
