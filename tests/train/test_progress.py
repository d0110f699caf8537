"""The bar: silent without a terminal, informative on one."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from unknot.train.progress import Progress


def test_nothing_is_written_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(10, 0, 32, show=True) as progress:
        progress.show(5, {"step": 5, "loss": 1.0}, 100.0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_terminal_shows_terms_speed_and_steps() -> None:
    program = (
        "from unknot.train.progress import Progress\n"
        "with Progress(10, 0, 32, True) as bar:\n"
        "    bar.show(5, {'step': 5, 'loss': 1.25, 'reconstruction': -3.5, 'time': 1.0}, 1234.0)\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "160", "TERM": "xterm"}
    subprocess.run(
        [sys.executable, "-c", program],
        stderr=theirs,
        env=environment,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    for part in ("5/10", "loss 1.25", "reconstruction -3.5", "1,234 items/s"):
        assert part in shown
    assert "time" not in shown
