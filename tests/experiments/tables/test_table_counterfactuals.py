"""table-counterfactuals: the methods by loops, and scores at rows whose scores are known."""

from __future__ import annotations

import numpy as np

from experiments.tables.table_counterfactuals import (
    METHODS,
    OURS,
    by_means,
    by_neighbor,
    cases,
    changed_columns,
    irises,
    scores,
)

TABLE = irises()
ORDER = np.random.default_rng(0).permutation(150)
TEST, TRAIN = ORDER[:50], ORDER[50:]


def test_moved_by_means() -> None:
    changed = by_means(TABLE, TRAIN, TRAIN, TEST, 0)
    for n, row in enumerate(TEST):
        own = [i for i in TRAIN if TABLE.y[i] == TABLE.y[row]]
        for k in range(3):
            other = [i for i in TRAIN if TABLE.y[i] == k]
            expected = TABLE.x[row] - TABLE.x[own].mean(0) + TABLE.x[other].mean(0)
            np.testing.assert_allclose(changed[n, k], expected)


def test_the_nearest_row_is_of_the_class_asked_for() -> None:
    changed = by_neighbor(TABLE, TRAIN, TRAIN, TEST, 0)
    unit = TABLE.x[TRAIN].std(0)
    for n, row in enumerate(TEST):
        for k in range(3):
            there = [i for i in TRAIN if TABLE.y[i] == k]
            best = min(there, key=lambda i: float((((TABLE.x[i] - TABLE.x[row]) / unit) ** 2).sum()))
            np.testing.assert_array_equal(changed[n, k], TABLE.x[best])


def test_scores_of_rows_moved_by_the_tests_own_means() -> None:
    """Their means are exactly those of the class, and each keeps its place."""
    found = scores(TABLE, TRAIN, TEST, by_means(TABLE, TRAIN, TEST, TEST, 0))
    assert found["mean_gap"] < 1e-9
    assert abs(found["kept"] - 1) < 1e-9
    assert found["read"] > 85


def test_scores_of_rows_that_stay_as_they_are_or_become_one() -> None:
    stayed = scores(TABLE, TRAIN, TEST, np.repeat(TABLE.x[TEST][:, None], 3, 1))
    assert stayed["read"] < 10
    one = np.stack([TABLE.x[TEST][TABLE.y[TEST] == k].mean(0) for k in range(3)])
    same = scores(TABLE, TRAIN, TEST, np.repeat(one[None], len(TEST), 0))
    assert same["spread"] < 1e-9
    assert same["mean_gap"] < 1e-9


def test_every_method_for_both_amounts_of_labels() -> None:
    found = cases("quick")
    assert len(found) == 2 * len(METHODS)
    assert found[0]["row"] == OURS


# ---- Changed rows of a table: a panel for each column, a bar at every mean, holes left out ---------------


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
