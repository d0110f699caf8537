"""Kinds of columns, as the training rows decide (see test_tables for whole files)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.data.readers.cells import cells_of
from unknot.data.dataset import Column
from unknot.data.readers.column_kinds import read_columns
from unknot.data.readers.table_cells import read_cells
from unknot.data.readers.table_files import ArrowSource
from unknot.errors import DataError, UnknotWarning


def test_kinds_of_the_deciding_rows() -> None:
    cells = cells_of({"a": ["0", "1", "1"], "b": ["x", "y", "z"], "c": ["1.5", None, "2"]})
    with pytest.warns(UnknotWarning, match="'z', which no training row has"):
        table, rows = read_columns("t", cells, {}, training=np.array([True, True, False]))
    assert table == (Column("a", "binary"), Column("b", "category", ("x", "y")), Column("c", "real"))
    np.testing.assert_array_equal(rows.array(), [[0, 0, 1.5], [1, 1, np.nan], [1, np.nan, 2]])


def test_unknown_words_of_known_columns_are_missing_or_refused() -> None:
    cells, known = cells_of({"b": ["x", "z"]}), (Column("b", "category", ("x", "y")),)
    with pytest.raises(DataError, match="t, column 'b', row 3: got 'z', expected one of x, y"):
        read_columns("t", cells, {}, known, errors="raise")
    for errors in ("warn", None):
        with pytest.warns(UnknotWarning, match="column 'b': there are 'z', which no training row has"):
            _, rows = read_columns("t", cells, {}, known, errors=errors)
        np.testing.assert_array_equal(rows.array(), [[0], [np.nan]])
        assert rows.odd_rows == ()


def test_rows_that_cannot_be_read_are_noted_for_predictions_and_else_refused() -> None:
    cells = cells_of({"a": ["1.5", "oops", "2"], "b": ["1", "0", "7"]})
    known = (Column("a", "real"), Column("b", "binary"))
    for errors in ("raise", None):
        with pytest.raises(DataError, match="t, column 'a', row 3: got 'oops', expected a number"):
            read_columns("t", cells, {}, known, errors=errors)
    with pytest.warns(UnknotWarning) as warned:
        _, rows = read_columns("t", cells, {}, known, errors="warn")
    assert "column 'a', row 3: got 'oops', expected a number; the row has no prediction" in str(
        warned[0].message
    )
    assert "column 'b', row 4: got '7', expected 0 or 1" in str(warned[1].message)
    assert rows.odd_rows == (1, 2)
    np.testing.assert_array_equal(rows.array(), [[1.5, 1], [np.nan, 0], [2, np.nan]])


def test_dates_become_numbers() -> None:
    words = ["2024-02-28", "2024-03-01T12:00", "", "2025-03-02 00:00:00"]
    cells = cells_of({"when": [word or None for word in words]})
    table, rows = read_columns("t", cells, {})
    assert [(c.name, c.reads, c.origin) for c in table] == [
        ("when (year)", "year", "when"),
        ("when (month)", "month", "when"),
        ("when (weekday)", "weekday", "when"),
        ("when (days)", "days since 2024-02-28", "when"),
    ]
    gap = [np.nan] * 4  # a leap year; a Wednesday, a Friday and a Sunday
    expected = [[2024, 2, 2, 0], [2024, 3, 4, 2.5], gap, [2025, 3, 6, 368]]
    np.testing.assert_array_equal(rows.array(), np.array(expected, np.float32))
    with pytest.warns(UnknotWarning, match="row 3: got 'soon', expected a date"):
        _, again = read_columns("t", cells_of({"when": ["2024-02-27", "soon"]}), {}, table, errors="warn")
    np.testing.assert_array_equal(again.array()[0], [2024, 2, 1, -1])
    with pytest.raises(DataError, match="row 22: got 'soon' among dates"):
        read_columns("t", cells_of({"when": ["2024-02-27"] * 20 + ["soon"]}), {})
    kinds = {"when": "category"}
    classes = ("2024-02-28", "2024-03-01T12:00", "2025-03-02 00:00:00")
    assert read_columns("t", cells, kinds)[0] == (Column("when", "category", classes),)


def test_numbers_with_a_unit() -> None:
    words = ["4.14 g/dl", "3.9 g/dl", "5", "12g/dl"]
    table, rows = read_columns("t", cells_of({"albumin": words}), {})
    assert table == (Column("albumin", "real", reads="unit g/dl"),)
    np.testing.assert_allclose(rows.array()[:, 0], [4.14, 3.9, 5, 12])
    with pytest.raises(DataError, match="row 2: got '41 g/l', expected a number in g/dl"):
        read_columns("t", cells_of({"albumin": ["41 g/l"]}), {}, table)
    mixed = [f"{i} {'mg' if i % 2 else 'kg'}" for i in range(40)]
    with pytest.raises(DataError, match="t, column 'w': expected numbers in one unit, got 'kg', 'mg'"):
        read_columns("t", cells_of({"w": mixed}), {})


def test_long_whole_numbers_that_are_all_different_are_left_out() -> None:
    rng = np.random.default_rng(0)
    for count in (30, 1500):  # words, and more of them than are kept
        numbers = rng.choice(10**6, count, replace=False).tolist()
        content = {"phone": 4_000_000_000, "seconds": 1_600_000_000, "size": 0}
        arrays = {
            name: pa.array([str(start + i) for i in numbers], pa.string()) for name, start in content.items()
        }
        cells = read_cells(ArrowSource.of_table(pa.table(arrays), "t"))
        with pytest.warns(
            UnknotWarning
        ) as warned:  # also of the digits of the seconds that float32 does not hold
            table, _ = read_columns("t", cells, {})
        assert "column 'phone' is different in every row and is left out" in str(warned[0].message)
        assert [column.name for column in table] == ["seconds", "size"]


def test_an_empty_column_is_left_out_and_said() -> None:
    cells = cells_of({"a": ["1.5", "2"], "b": [None, None], "c": [None, "3"]})
    with pytest.warns(UnknotWarning, match="to train on, and left out: column 'b', 'c'"):
        table, _ = read_columns("t", cells, {}, training=np.array([True, False]))
    assert [column.name for column in table] == ["a"]
    with pytest.raises(DataError, match="t has no data: every entry is missing"):
        read_columns("t", cells_of({"a": [None], "b": [None]}), {})


@pytest.mark.parametrize(
    "words", [["1,5", "2,25", "3"], ["1,200", "12,345", "999"], ["1,200", "1,345.6", "1.234"]]
)
def test_numbers_with_commas_are_refused(words: list[str]) -> None:
    cells = cells_of({"a": words * 10})
    with pytest.raises(DataError, match=f"column 'a', row 2: got '{words[0]}', which may be a number"):
        read_columns("t", cells, {})
    table, _ = read_columns("t", cells, {"a": "category"})
    assert len(table[0].classes) == 3


def test_thousands_separators() -> None:
    table, rows = read_columns("t", cells_of({"a": ["1,200", "12,345.6", "999"]}), {})
    assert table == (Column("a", "real", reads="thousands"),)
    np.testing.assert_allclose(rows.array()[:, 0], [1200, 12345.6, 999])


def test_limits_among_numbers_are_refused_however_many() -> None:
    for limit in ("<0.5", "> 100", "<=3.5 g/l"):
        cells = cells_of({"a": [limit if i % 5 == 0 else str(i / 2) for i in range(60)]})
        with pytest.raises(DataError, match=f"got '{limit}' among numbers, a limit and no number; write"):
            read_columns("t", cells, {})
        assert read_columns("t", cells, {"a": "category"})[0][0].kind == "category"


def test_numbers_that_become_a_category_are_said() -> None:
    cells = cells_of({"a": ["low" if i % 5 == 0 else str(i / 2) for i in range(60)]})
    with pytest.warns(UnknotWarning, match="category of 49 words, for there is 'low' among its numbers"):
        assert read_columns("t", cells, {})[0][0].kind == "category"
    few = cells_of({"a": ["1", "2", "3a", "3b"] * 10})
    assert read_columns("t", few, {})[0][0].kind == "category"  # codes


def test_rows_are_counted_from_where_they_begin() -> None:
    known = (Column("b", "category", ("x", "y")),)
    with pytest.raises(DataError, match="x, column 'b', row 1: got 'z'"):
        read_columns("x", cells_of({"b": ["x", "z"]}), {}, known, first=0, errors="raise")
