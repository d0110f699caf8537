"""Curves of a run: one frame for each term that changes."""

from __future__ import annotations

from unknot.plots.curves import curves


def test_curves_show_what_changes() -> None:
    records = [{"step": s, "loss": 1.0 / s, "same": 1.0, "time": s} for s in (1, 2, 3)]
    records[1]["validation"] = 0.5
    figure = curves(records)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["loss", "validation"]
    x, y = figure.axes[0].lines[0].get_data()
    assert list(x) == [1, 2, 3]
    assert list(y) == [1.0, 0.5, 1 / 3]
    assert len(curves(records[:1]).axes) == 2  # with one record nothing has changed yet: show all
