"""A bar opens and closes with its block, also where the block fails; without one nothing happens."""

from __future__ import annotations

import pytest

from unknot.train.progress import TerminalBar


class Told:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def stop(self) -> None:
        self.calls.append("stop")


def test_a_bar_lasts_as_long_as_its_block() -> None:
    bar = Told()
    with TerminalBar(bar):
        assert bar.calls == ["start"]
    assert bar.calls == ["start", "stop"]


def test_it_goes_when_the_block_fails() -> None:
    bar = Told()
    with pytest.raises(ValueError, match="inside"), TerminalBar(bar):
        raise ValueError("inside")
    assert bar.calls == ["start", "stop"]


def test_without_a_terminal_there_is_none() -> None:
    with TerminalBar() as none:
        assert isinstance(none, TerminalBar)
