"""Columns: what there are, and that they are values."""

from __future__ import annotations

from unknot.data.column import COLUMN_KINDS, Column


def test_columns_are_values_with_a_kind_and_classes() -> None:
    assert COLUMN_KINDS == ("real", "binary", "category", "count")
    assert Column("age", "real") == Column("age", "real", ())
    assert Column("town", "category", ("a", "b")) != Column("town", "category", ("b", "a"))
    assert len({Column("age", "real"), Column("age", "real")}) == 1
