"""Curves of a run: one frame for each term that changes."""

from __future__ import annotations

import pytest

from unknot.plots.curves import bars, curves, seeds_by_setting


def test_curves_show_what_changes() -> None:
    records = [{"step": s, "loss": 1.0 / s, "same": 1.0, "time": s} for s in (1, 2, 3)]
    records[1]["validation"] = 0.5
    figure = curves(records)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["loss", "validation"]
    x, y = figure.axes[0].lines[0].get_data()
    assert list(x) == [1, 2, 3]
    assert list(y) == [1.0, 0.5, 1 / 3]
    assert len(curves(records[:1]).axes) == 2  # with one record nothing has changed yet: show all


# ---- Bars: as long as their numbers, unused ones in gray -------------------------------------------------


def test_bars_are_as_long_as_their_numbers_and_grey_ones_differ() -> None:
    figure = bars(["z[0]", "z[1]"], [1.5, 0.0], "nats", [False, True])
    assert [bar.get_width() for bar in figure.axes[0].patches] == [1.5, 0.0]
    assert figure.axes[0].patches[0].get_facecolor() != figure.axes[0].patches[1].get_facecolor()


# ---- One panel a number, one line a setting, one dot a seed ----------------------------------------------


def test_dots_and_medians_lie_where_the_values_are() -> None:
    figure = seeds_by_setting(
        ["beta = 1", "beta = 4"], {"error": [[1.0, 3.0, 2.0], [5.0]], "mig": [[0.1], []]}
    )
    error, mig = figure.axes
    assert [line.get_xdata().tolist() for line in error.lines] == [[1.0, 3.0, 2.0], [2.0], [5.0], [5.0]]
    assert [line.get_ydata().tolist() for line in error.lines] == [[0, 0, 0], [0], [1], [1]]
    assert [label.get_text() for label in error.get_yticklabels()] == ["beta = 1", "beta = 4"]
    assert [label.get_text() for label in mig.get_yticklabels()] == ["", ""]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["error", "mig"]


@pytest.mark.parametrize(("panels", "shape"), [(1, (1, 1)), (4, (2, 3))])
def test_panels_stand_at_most_three_in_a_row(panels: int, shape: tuple[int, int]) -> None:
    figure = seeds_by_setting(["a"], {str(i): [[float(i)]] for i in range(panels)})
    grid = figure.axes[0].get_subplotspec().get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
