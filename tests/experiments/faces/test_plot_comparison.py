"""Ours beside theirs."""

from __future__ import annotations

from experiments.faces.plot_comparison import Curve, comparison


def test_ours_are_solid_and_theirs_dashed_in_one_color() -> None:
    curves = [
        Curve("ours", [0.01, 1.0], [2.0, 8.0], "100", spread=[0.5, 0.0]),
        Curve("theirs", [0.01, 1.0], [9.0, 30.0], "100", theirs=True),
        Curve("other", [0.1], [3.0], "600"),
    ]
    figure = comparison(curves, "rate", "error")
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    lines = [container.lines[0] for container in axes.containers]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-"]
    assert lines[0].get_color() == lines[1].get_color() != lines[2].get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours", "theirs", "other"]
