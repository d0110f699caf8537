"""Cells that are numbers or dates in words, and the form of a column."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from unknot.data.readers.written_cells import date_forms, date_of, find_form, is_since, value_of
from unknot.errors import DataError


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["1", "2.5"], ""),
        (["2024-03-01", "2023-12-24 18:30"], "date"),
        (["4.14 g/dl", "3 g/dl"], "unit g/dl"),
        (["1,234.5", "12"], "thousands"),
        (["1,234", "12"], ""),  # may be a decimal comma
        (["red", "blue", "4.14 g/dl"], ""),
        (["12 Elm Street", "7 High Road", "3 Mill Lane"], ""),
    ],
)
def test_the_form_of_a_column(words: list[str], form: str) -> None:
    assert find_form(words, Counter(words), "column 'a'") == form


def test_numbers_in_two_units_are_refused() -> None:
    words = [f"{i} {'g' if i % 2 else 'mg'}" for i in range(20)]
    with pytest.raises(DataError, match="expected numbers in one unit"):
        find_form(words, Counter(words), "column 'a'")


def test_a_date_and_its_number_of_days_are_inverse() -> None:
    (form,) = [form for form in date_forms(["2024-02-28", "2024-03-01"]) if is_since(form)]
    assert value_of("2024-03-01", form) == 2.0
    assert date_of(2.0, form) == date(2024, 3, 1)
