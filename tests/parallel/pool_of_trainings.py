"""A program with a pool of trainings that go on until they are interrupted; it ends with 130, as a shell says."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

from unknot.parallel.processes import run_in_processes
from unknot.train.processes import Interrupts


def train(place: tuple[str, int]) -> None:
    folder, number = place
    with Interrupts() as interrupts:
        Path(folder, f"begun-{number}").touch()
        while not interrupts.requested:
            time.sleep(0.01)
        time.sleep(0.3)  # long enough for whatever comes after the first signal
        Path(folder, f"saved-{number}").touch()
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are born without it
    try:
        list(run_in_processes(train, [(sys.argv[1], number) for number in range(3)], 2))
    except KeyboardInterrupt:
        sys.exit(130)
