"""A line for each run that has ended; in a terminal a bar beside them."""

from __future__ import annotations

import io

import pytest

from unknot.cli.run_bar import RunBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_count_on_from_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    with RunBar(5, 2) as bar:
        bar.end("beta = 4, seed 0: [done]")
    assert capsys.readouterr().out == "3 of 5: beta = 4, seed 0: [done]\n"


def test_a_terminal_shows_a_bar_and_the_line_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with RunBar(5, 2) as bar:
        bar.end("kl[style]: done")
    assert "kl[style]: done" in stream.getvalue()
    assert "3/5" in stream.getvalue()
