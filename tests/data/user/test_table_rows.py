"""Rows made from cells: chosen columns, words by their numbers."""

from __future__ import annotations

import numpy as np

from unknot.data.user.table_rows import TableRows


def test_columns_are_chosen_and_words_looked_up() -> None:
    cells = np.array([[0.0, 2.5, 1.0], [1.0, np.nan, np.nan], [np.nan, 1e300, 0.0]])
    rows = TableRows(cells, [2, 1], [np.array([10.0, 20.0]), None])
    expected = np.array([[20, 2.5], [np.nan, np.nan], [10, np.inf]], dtype=np.float32)
    np.testing.assert_array_equal(rows.array(), expected)
    np.testing.assert_array_equal(rows[np.array([2, 0])], expected[[2, 0]])
    assert rows.shape == (3, 2)
    assert rows.dtype == np.float32
    assert cells[0, 2] == 1.0  # the cells stay as they are
