"""The reliability diagram: a dot a bin, larger where there are more items."""

from __future__ import annotations

from unknot.plots.reliability import reliability_diagram


def test_dots_lie_where_the_bins_are() -> None:
    axes = reliability_diagram([0.55, 0.95], [0.5, 1.0], [10, 100]).axes[0]
    dots = axes.collections[0]
    assert dots.get_offsets().tolist() == [[0.55, 0.5], [0.95, 1.0]]
    small, large = dots.get_sizes()
    assert small < large
