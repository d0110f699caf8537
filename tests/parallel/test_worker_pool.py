"""Workers end with who started them, and an interrupt lets them save what they have."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.parallel.work import half
from unknot.parallel.processes import run_in_processes


def test_processes_give_what_one_would_and_a_failure_stays_its_own() -> None:
    made = dict(run_in_processes(half, [2, 4, 7], 2))
    assert (made[2], made[4]) == (1, 2)
    assert isinstance(made[7], ValueError)
    assert str(made[7]) == "7 is odd"


def test_an_interrupt_lets_every_worker_save_and_starts_nothing_more(tmp_path: Path) -> None:
    """Ctrl-C reaches the starter alone; both workers note it, end in order, and the third item never begins."""
    with started("tests.parallel.pool_of_trainings", str(tmp_path)) as process:
        wait_for(lambda: len(list(tmp_path.glob("begun-*"))) == 2)
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 130
        finally:
            process.kill()  # or leaving the block would wait for ever
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun-0", "begun-1", "saved-0", "saved-1"]


def test_a_killed_starter_leaves_no_workers() -> None:
    with started("tests.parallel.pool_of_sleepers") as process:
        assert process.stdout is not None
        workers = [int(number) for number in process.stdout.readline().split()]
        assert workers
        process.kill()
    wait_for(lambda: not any(_alive(worker) for worker in workers))


def started(*program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *program],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )


def wait_for(done: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.05)
    assert done()


def _alive(process: int) -> bool:
    """Whether a process works; one that has ended and was not yet asked for is not alive."""
    stat = Path("/proc", str(process), "stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
