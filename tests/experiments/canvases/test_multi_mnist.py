"""multi-mnist: which cells there are, and that the smoke tier runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.canvases.multi_mnist import (
    ALONE,
    CELLS,
    COUNTER,
    EXPERIMENT,
    FEW,
    GLANCES,
    HARDER,
    NONE,
    SHARES,
    SLEEP,
    TENTH,
    cases,
    reached,
)
from experiments.ledger.experiment import Case, case_title, settings_of


def test_the_rows_of_the_paper_and_what_it_has_not() -> None:
    found = {(case["row"], case["column"]): case for case in cases("quick")}
    assert [found[CELLS, column]["share"] for column in SHARES] == [0.1, 0.5, 1.0]
    assert found[SLEEP, FEW]["labels"] == found[ALONE, FEW]["labels"] == found[COUNTER, FEW]["labels"] == 100
    assert found[SLEEP, NONE]["labels"] == 0
    assert "finder" not in found[SLEEP, NONE]
    assert found[ALONE, FEW]["train"] is None
    assert found[ALONE, FEW]["finder"] == found[COUNTER, FEW]["finder"] == found[CELLS, TENTH]["finder"]
    assert found[CELLS, TENTH]["frozen"]
    assert all(found[GLANCES, column]["looks"] == "glances" for column in SHARES)
    assert all(case["canvases"]["n"] == 82000 for case in found.values())


@pytest.mark.parametrize("case", cases("smoke"), ids=case_title)
def test_the_smoke_tier_runs(case: Case, tmp_path: Path) -> None:
    numbers = EXPERIMENT.run(settings_of(case), 0, tmp_path)
    assert 0 <= numbers["count"] <= 100
    assert ("sets" in numbers) == (case["looks"] is not None)
    assert ("four" in numbers) == (case["looks"] == "cell_choice" and case["row"] != HARDER)
    assert ("reached" in numbers) == ("goals" in case)


def test_a_seed_reaches_all_goals_or_it_does_not() -> None:
    goals = {"count": 99.3, "place": 0.5}
    assert reached({"count": 99.3, "place": 0.5}, goals)
    assert not reached({"count": 99.2, "place": 0.1}, goals)
    assert not reached({"count": 99.9, "place": 0.6}, goals)
