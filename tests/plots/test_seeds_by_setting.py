"""One panel a number, one line a setting, one dot a seed."""

from __future__ import annotations

import pytest

from unknot.plots.seeds_by_setting import seeds_by_setting


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
