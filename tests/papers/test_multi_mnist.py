"""multi-mnist: which cells there are, and that the smoke tier runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from unknot.papers.experiment import Case, case_title, settings_of
from unknot.papers.multi_mnist import ALONE, CELLS, COUNTER, EXPERIMENT, FEW, GLANCES, TENTH, cases


def test_the_rows_of_the_paper_and_what_it_has_not() -> None:
    found = {(case["row"], case["column"]): case for case in cases("quick")}
    assert found[CELLS, TENTH]["share"] == 0.1
    assert found[CELLS, FEW]["labels"] == found[ALONE, FEW]["labels"] == found[COUNTER, FEW]["labels"] == 100
    assert found[CELLS, TENTH]["frozen"]
    assert found[GLANCES, TENTH]["looks"] == "glances"
    assert all(case["canvases"]["n"] == 82000 for case in found.values())


@pytest.mark.parametrize("case", cases("smoke"), ids=case_title)
def test_the_smoke_tier_runs(case: Case, tmp_path: Path) -> None:
    numbers = EXPERIMENT.run(settings_of(case), 0, tmp_path)
    assert 0 <= numbers["count"] <= 100
    assert ("sets" in numbers) == (case["looks"] is not None)
    assert ("four" in numbers) == (case["looks"] == "cell_choice")
