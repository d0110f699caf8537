"""Predictions as a table, in users' own names."""

from __future__ import annotations

import numpy as np
import pytest

from tests.workflow.test_evaluation import COUNT, data, model  # noqa: F401 (fixtures)
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.prediction_table import prediction_rows, prediction_table


def test_a_table_has_names_probabilities_and_numbers(model, data) -> None:  # noqa: F811
    header, rows = prediction_table(model, predict_dataset(model, data).predictions, {"row": range(COUNT)})
    assert header == [
        "row", "kind", "kind probability", "light[0]", "light[1]", "light[2]", "size", "odd", "odd probability",
    ]  # fmt: skip
    assert len(rows) == COUNT
    assert rows[7][0] == "7"
    assert {row[1] for row in rows} <= {"a", "b", "c"}
    assert {row[7] for row in rows} <= {"0", "1"}
    assert all(1 / 3 <= float(row[2]) <= 1 and 0.5 <= float(row[8]) <= 1 for row in rows)


def test_rows_come_in_parts_and_are_those_of_the_whole(model, data, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    header, rows = prediction_table(model, predict_dataset(model, data).predictions, {"row": range(COUNT)})
    monkeypatch.setattr("unknot.workflow.prediction_table.items_at_once", lambda shape: 3)
    found = prediction_rows(model, data, ["row"], ((i,) for i in range(COUNT)))
    assert next(found) == header
    assert [row[:2] for row in found] == [row[:2] for row in rows]


def test_what_an_item_has_not_is_left_empty(model, data) -> None:  # noqa: F811
    predictions, some = predict_dataset(model, data).predictions, np.arange(COUNT) % 2 == 0
    _, rows = prediction_table(model, predictions, {"row": range(COUNT)}, {"kind": some, "light": ~some})
    assert [row[1] == row[2] == "" for row in rows] == some.tolist()
    assert [row[3] == row[5] == "" for row in rows] == (~some).tolist()
    assert all(row[7] != "" for row in rows)
