"""The bar: one line on a terminal, a line now and then in a file."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unknot.train.progress import Progress, terms_text


def test_nothing_is_written_to_a_file_in_the_first_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(10, 0, 32, show=True) as progress:
        progress.show(5, {"step": 5, "loss": 1.0}, 100.0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize("columns", [160, 80])
def test_a_terminal_shows_bar_steps_time_and_terms_on_one_line(columns: int) -> None:
    program = (
        "from unknot.train.progress import Progress\n"
        "with Progress(10, 0, 32, True) as bar:\n"
        "    bar.show(5, {'step': 5, 'loss': 1.25, 'kl[digit]': 3.5, 'kl[style]': 8.5, 'time': 1.0}, 1234.0)\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
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
    parts = ["━", "5/10", "-:--:--", "1,234/s", "loss 1.25", "kl[digit] 3.5"]
    for part in [*parts, "kl[style] 8.5"] if columns > 80 else parts:
        assert part in shown  # brackets are not eaten as markup, and nothing vanishes
    assert "time" not in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert max(len(line) for line in re.split(r"[\r\n]+", plain)) <= columns


def test_a_file_gets_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unknot.train.progress._SILENCE", 0.0)
    with Progress(10, 0, 32, show=True) as progress:
        progress.show(5, {"step": 5, "loss": 1.0}, 100.0)
    assert re.fullmatch(r"step 5 of 10, about \d+ s left  loss 1\n", capsys.readouterr().err)


def test_terms_that_do_not_fit_are_left_out() -> None:
    assert terms_text({"step": 1, "loss": 2.0, "kl": 3.0}, 8) == "loss 2"
    assert terms_text({"loss": 2.0}, 0) == ""
