"""Cells: what is missing, and words that a spreadsheet would run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unknot.data.user.csv_cell import guarded, has_comma, is_number, read_cell, unguarded


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
