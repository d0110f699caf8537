"""Bars: as long as their numbers, unused ones in gray."""

from __future__ import annotations

from unknot.plots.bars import bars


def test_bars_are_as_long_as_their_numbers_and_grey_ones_differ() -> None:
    figure = bars(["z[0]", "z[1]"], [1.5, 0.0], "nats", [False, True])
    assert [bar.get_width() for bar in figure.axes[0].patches] == [1.5, 0.0]
    assert figure.axes[0].patches[0].get_facecolor() != figure.axes[0].patches[1].get_facecolor()
