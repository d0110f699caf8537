"""Descriptions of columns: what rows tell of them, and what they cannot hold."""

from __future__ import annotations

import pytest
import torch

from unknot.errors import DataError
from unknot.models.table_columns import check_rows, describe_columns

NAN = float("nan")


def test_rows_tell_the_rest() -> None:
    rows = torch.tensor([[1.0, 0.0, 2.0, 5.0], [3.0, 1.0, NAN, 0.0], [NAN, 1.0, 0.0, 1.0]])
    columns = describe_columns(["real", "binary", "category", "count"], rows, ["a", "b", "c", "d"])
    assert columns == (
        {"name": "a", "kind": "real", "mean": 2.0, "sd": 1.0},
        {"name": "b", "kind": "binary"},
        {"name": "c", "kind": "category", "size": 3},
        {"name": "d", "kind": "count"},
    )


def test_a_column_that_never_varies_keeps_its_units() -> None:
    assert describe_columns(["real"], torch.ones(3, 1))[0]["sd"] == 1.0


def test_classes_that_do_not_occur_are_counted() -> None:
    assert describe_columns(["category"], torch.zeros(3, 1), classes=[5])[0]["size"] == 5


@pytest.mark.parametrize(
    ("kinds", "rows", "message"),
    [
        (["real"], [[1.0, 2.0]], "columns names 1 kinds, but rows have shape"),
        (["word"], [[1.0]], "kind is one of real, binary, category, count, but is 'word'"),
        (["real"], [[NAN]], "every entry is missing"),
        (["binary"], [[2.0]], "entries of a binary column cannot be 2"),
        (["count"], [[-1.0]], "entries of a count column cannot be -1"),
        (["category"], [[0.5]], "entries of a category column cannot be 0.5"),
    ],
)
def test_rows_that_do_not_fit_their_kind(kinds: list[str], rows: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        describe_columns(kinds, torch.tensor(rows))


def test_new_rows_must_fit_the_description() -> None:
    columns = describe_columns(["category"], torch.tensor([[0.0], [1.0]]), ["c"])
    check_rows(columns, torch.tensor([[1.0], [NAN]]))
    with pytest.raises(DataError, match="'c': entries of a category column cannot be 2"):
        check_rows(columns, torch.tensor([[2.0]]))
