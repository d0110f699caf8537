"""Predictions as a table, in users' own names."""

from __future__ import annotations

from tests.workflow.test_evaluation import COUNT, data, model  # noqa: F401 (fixtures)
from unknot.workflow.evaluation import recognise
from unknot.workflow.prediction_table import prediction_table


def test_a_table_has_names_probabilities_and_numbers(model, data) -> None:  # noqa: F811
    header, rows = prediction_table(model, recognise(model, data), {"row": range(COUNT)})
    assert header == [
        "row", "kind", "kind probability", "light[0]", "light[1]", "light[2]", "size", "odd", "odd probability",
    ]  # fmt: skip
    assert len(rows) == COUNT
    assert rows[7][0] == "7"
    assert {row[1] for row in rows} <= {"a", "b", "c"}
    assert {row[7] for row in rows} <= {"0", "1"}
    assert all(1 / 3 <= float(row[2]) <= 1 and 0.5 <= float(row[8]) <= 1 for row in rows)
