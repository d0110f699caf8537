"""Cells of CSV files: missing cells, numbers, escaped formulas; and tables that are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.readers.cells import texts_of_file
from unknot.data.dataset import Column
from unknot.data.readers.csv_cells import (
    guarded,
    has_comma,
    is_number,
    read_cell,
    table_cells,
    unguarded,
    write_table,
)


@pytest.mark.parametrize("cell", ["=cmd|'/c calc'!A0", "+x", "-", "@SUM(A1)", "\tx", "'=x", "-1_000", "+1+1"])
def test_formulas_are_guarded(cell: str) -> None:
    assert guarded(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-1", "+2.5", "-1e-05", "-.5", "-inf", "", "a=b", "'quoted'", "3"])
def test_numbers_and_other_words_stay(cell: str) -> None:
    assert guarded(cell) == cell


@given(st.text())
def test_what_was_guarded_comes_back(cell: str) -> None:
    assert unguarded(guarded(cell)) == cell


def test_missing_cells_and_decimal_commas() -> None:
    assert [read_cell(cell) for cell in ("", " NA ", "?", "null", "0", " x ")] == [
        None,
        None,
        None,
        None,
        "0",
        "x",
    ]
    assert [read_cell(cell) for cell in ("None", "n/a", "none", "Na")] == [None, None, "none", "Na"]
    assert read_cell("1,5", decimal_comma=True) == "1.5"
    assert read_cell("-1,5e3", decimal_comma=True) == "-1.5e3"
    assert read_cell("1,5") == "1,5"
    assert all(map(has_comma, ("1,5", "1,234.5", "1.234,5")))
    assert not any(map(has_comma, ("1.5", "1,2,3", "a,b")))
    assert [is_number(cell) for cell in ("1e3", "-.5", "x", "1,5")] == [True, True, False, False]


def test_words_numbers_and_gaps(tmp_path: Path) -> None:
    table = (Column("blood, type", "category", ("A", 'B "rare"')), Column("visits", "count"))
    cells = table_cells(table, np.array([[1.0, 3.0], [np.nan, 0.0]]))
    write_table(tmp_path / "t.csv", [column.name for column in table], cells)
    assert texts_of_file(tmp_path / "t.csv") == {"blood, type": ['B "rare"', None], "visits": ["3", "0"]}


def test_formulas_are_guarded_and_come_back(tmp_path: Path) -> None:
    words = ("=cmd|' /C calc'!A0", "-x", "@y", "'=z")
    table = (Column("+name", "category", words), Column("n", "real"))
    cells = table_cells(table, np.array([[i, -1.5] for i in range(4)]))
    write_table(tmp_path / "t.csv", [column.name for column in table], cells)
    written = (tmp_path / "t.csv").read_text().splitlines()
    assert written[:3] == ["'+name,n", "'=cmd|' /C calc'!A0,-1.5", "'-x,-1.5"]
    assert texts_of_file(tmp_path / "t.csv") == {"+name": list(words), "n": ["-1.5"] * 4}
