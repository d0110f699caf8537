"""A local cluster of two workers: a killed worker's item is taken up again, a failure is not."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from unknot.parallel.ray_tasks import run_on_ray


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.usefixtures("two_ray_workers")
def test_a_lost_workers_item_is_taken_up_again_and_a_failure_is_not(tmp_path: Path) -> None:
    def work(item: int) -> int:
        attempts = tmp_path / f"attempts-{item}"
        with attempts.open("a") as file:
            file.write("x")
        if item == 0 and attempts.stat().st_size == 1:
            (tmp_path / "new").write_text(str(os.getpid()))
            (tmp_path / "new").rename(tmp_path / "process")
            time.sleep(600)
        if item == 3:
            raise ValueError("3 is refused")
        return 10 * item

    made = {}
    for item, result in run_on_ray(work, [0, 1, 2, 3], "auto"):
        made[item] = result
        if len(made) == 3:  # the other worker has done all the rest, and the first sleeps, or will
            while not (tmp_path / "process").exists():
                time.sleep(0.05)
            os.kill(int((tmp_path / "process").read_text()), signal.SIGKILL)
    assert {item: made[item] for item in (0, 1, 2)} == {0: 0, 1: 10, 2: 20}
    assert "3 is refused" in str(made[3])
    assert [(tmp_path / f"attempts-{item}").stat().st_size for item in range(4)] == [2, 1, 1, 1]
