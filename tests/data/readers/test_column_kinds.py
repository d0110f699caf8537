"""Kinds of columns, as the training rows decide (see test_tables for whole files)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.data.readers.cells import cells_of
from unknot.data.dataset import Column
from unknot.data.readers.column_kinds import read_columns
from unknot.errors import DataError, UnknotWarning


def test_kinds_of_the_deciding_rows() -> None:
    cells = cells_of({"a": ["0", "1", "1"], "b": ["x", "y", "z"], "c": ["1.5", None, "2"]})
    with pytest.warns(UnknotWarning, match="'z', which no training row has"):
        table, rows = read_columns("t", cells, {}, training=np.array([True, True, False]))
    assert table == (Column("a", "binary"), Column("b", "category", ("x", "y")), Column("c", "real"))
    np.testing.assert_array_equal(rows.array(), [[0, 0, 1.5], [1, 1, np.nan], [1, np.nan, 2]])


def test_known_columns_refuse_other_words() -> None:
    with pytest.raises(DataError, match="t, column 'b', row 3: got 'z', expected one of x, y"):
        read_columns("t", cells_of({"b": ["x", "z"]}), {}, (Column("b", "category", ("x", "y")),))


def test_an_empty_column_is_left_out_and_said() -> None:
    cells = cells_of({"a": ["1.5", "2"], "b": [None, None], "c": [None, "3"]})
    with pytest.warns(UnknotWarning, match="to train on, and left out: column 'b', 'c'"):
        table, _ = read_columns("t", cells, {}, training=np.array([True, False]))
    assert [column.name for column in table] == ["a"]
    with pytest.raises(DataError, match="t has no data: every entry is missing"):
        read_columns("t", cells_of({"a": [None], "b": [None]}), {})


@pytest.mark.parametrize("words", [["1,5", "2,25", "3"], ["1,200", "12,345.6", "999"]])
def test_numbers_with_commas_are_refused(words: list[str]) -> None:
    cells = cells_of({"a": words * 10})
    with pytest.raises(DataError, match=f"column 'a', row 2: got '{words[0]}', which may be a number"):
        read_columns("t", cells, {})
    table, _ = read_columns("t", cells, {"a": "category"})
    assert len(table[0].classes) == 3


def test_numbers_that_become_a_category_are_said() -> None:
    cells = cells_of({"a": ["<0.5" if i % 5 == 0 else str(i / 2) for i in range(60)]})
    with pytest.warns(UnknotWarning, match="category of 49 words, for there is '<0.5' among its numbers"):
        assert read_columns("t", cells, {})[0][0].kind == "category"
    few = cells_of({"a": ["1", "2", "3a", "3b"] * 10})
    assert read_columns("t", few, {})[0][0].kind == "category"  # codes


def test_rows_are_counted_from_where_they_begin() -> None:
    known = (Column("b", "category", ("x", "y")),)
    with pytest.raises(DataError, match="x, column 'b', row 1: got 'z'"):
        read_columns("x", cells_of({"b": ["x", "z"]}), {}, known, first=0)
