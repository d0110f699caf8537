"""Changed rows of a table: a panel for each column, a bar at every mean, holes left out."""

from __future__ import annotations

import numpy as np

from experiments.tables.changed_columns import changed_columns


def test_bars_are_the_means_of_real_and_of_changed_rows() -> None:
    draw = np.random.default_rng(0)
    rows, own, changed = draw.random((12, 2)), np.repeat([0, 1, 2], 4), draw.random((12, 3, 2))
    rows[0, 0] = np.nan
    figure = changed_columns(["length", "mass"], ["a", "b", "c"], rows, own, changed, title="changed")
    assert [axes.get_title() for axes in figure.axes] == ["length", "mass"]
    for d, axes in enumerate(figure.axes):
        bars = sorted(float(np.asarray(line.get_ydata())[0]) for line in axes.get_lines())
        means = [np.nanmean(rows[own == k, d]) for k in range(3)]
        means += [changed[own == j, k, d].mean() for j in range(3) for k in range(3) if j != k]
        np.testing.assert_allclose(bars, sorted(means))
