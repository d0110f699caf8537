"""own-data in short: means over whole rows, goals reached and missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

from experiments.tables.own_data_overview import (
    CellTable,
    average_ranks,
    critical_difference,
    overview,
    rank_diagram,
    short,
)


def entry(
    table: str, column: str, accuracy: float, log_loss: float = 0.5, group: str = "fresh"
) -> dict[str, Any]:
    numbers = {"accuracy": accuracy, "log_loss": log_loss, "calibration": 0.05, "seconds": 1.0}
    case = {"row": f"{group}: {table}", "column": column, "item": table, "group": group, "numbers": False}
    return {"case": case, "seeds": 3, "numbers": {key: {"mean": value} for key, value in numbers.items()}}


FOUND = [
    *(entry("a", "ours", 84, 0.4), entry("a", "labels alone", 82), entry("a", "linear", 80)),
    *(entry("b", "ours", 70, 0.4), entry("b", "labels alone", 70), entry("b", "linear", 72)),
    entry("c", "ours", 99),
]


def test_only_rows_that_every_method_has() -> None:
    cells = CellTable(FOUND)
    assert cells.tables == ["a", "b"]
    np.testing.assert_array_equal(cells.value("accuracy"), [[84, 82, 80], [70, 70, 72]])
    np.testing.assert_array_equal(cells.ahead(), [4, -2])
    np.testing.assert_array_equal(cells.ahead("labels alone"), [2, 0])
    assert cells.rank() == 0  # ranks 1.75, 2.25 and 2


def test_several_cells_of_a_table_count_as_one() -> None:
    more = [entry("a", name, value) for name, value in (("ours", 90), ("labels alone", 90), ("linear", 90))]
    for one in more:
        one["case"]["row"] += ", 100 labels"
    assert CellTable([*FOUND, *more]).ahead().tolist() == [2.0, -2.0]


def test_one_hopeless_cell_is_not_the_mean_of_all() -> None:
    wild = [
        entry("a", name, value) for name, value in (("ours", -300), ("labels alone", 50), ("linear", -9e9))
    ]
    cells = CellTable(wild)
    assert (cells.mean("accuracy", "ours"), cells.ahead().tolist()) == (-100, [0])
    assert cells.rank() == 1  # as they are


def test_goals_say_what_was_missed() -> None:
    lines = overview({"summary": FOUND})
    asked = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in lines if line.count("|") == 3}
    assert asked["the worst table: at most 1.5 points below"] == "**miss** -2.00"
    assert asked["log loss: at most 95 % of that of logistic regression"] == "80 %"
    assert asked["R² above ridge regression, on the mean"] == "–"
    assert next(value for title, value in asked.items() if title.startswith("accuracy")).startswith(
        "**miss** +1.00 ±"
    )
    assert "| fresh: classes, 2 tables, 3 splits | ours | labels alone | linear |" in lines
    assert any(line.startswith("| accuracy (%) | 77.0 | 76.0 | 76.0 |") for line in lines)


def test_nothing_to_say_of_parts() -> None:
    assert overview({"summary": FOUND[-1:]}) == []
    assert short({"summary": FOUND}) is None


def test_the_short_line_is_of_the_group_that_proves_most() -> None:
    last = [{**one, "case": {**one["case"], "group": "redrawn"}} for one in FOUND]
    assert short({"summary": last}) == ("77.0 %", "76.0 %", 3)


# ---- Average ranks, against scipy's, and the critical difference, against Demšar's example ---------------


def test_ranks_are_scipys() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (12, 5)).astype(float)
    np.testing.assert_allclose(average_ranks(scores), rankdata(-scores, axis=1).mean(0))


def test_the_critical_difference_of_demsars_example() -> None:
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


def test_the_best_stands_first() -> None:
    scores = np.array([[1.0, 3.0, 2.0], [1.0, 5.0, 2.0]])
    figure = rank_diagram(scores, ["bad", "good", "fair"], "a group", {"good": " (5)"})
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["good (5)", "fair", "bad"]
