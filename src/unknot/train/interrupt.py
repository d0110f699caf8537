"""Ctrl-C and a polite kill: finish the step, then stop."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """Inside, SIGINT and SIGTERM set ``requested``. A second Ctrl-C interrupts at once, as always; a second SIGTERM
    does not, since who ends a group of processes may send several.

    Only the main thread may take over signals; elsewhere nothing changes.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for which in (signal.SIGINT, signal.SIGTERM):
                self._before[which] = signal.signal(which, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for which, handler in self._before.items():
            signal.signal(which, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = True
