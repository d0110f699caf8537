"""The file of a result: what is written comes back, every case stands there once, a run on a line."""

from __future__ import annotations

import json
from typing import Any

from experiments.ledger.result_file import FORMAT, packed, unpacked

CASES = [{"row": "ours", "labels": labels, "column": f"M = {labels}"} for labels in (100, 600)]
MACHINE = {"revision": "abc", "torch": "2", "machine": "two cores"}


def run(case: dict[str, Any], seed: int, **more: Any) -> dict[str, Any]:
    return {"case": case, "seed": seed, "numbers": {"error": 1 / 3 + seed}, **MACHINE, **more}


CONTENT = {
    "format": FORMAT,
    "experiment": "toy",
    "tier": "quick",
    "plots": ["a.png"],
    "runs": [run(CASES[0], 0, figures=["b.png"]), run(CASES[0], 1, revision="def"), run(CASES[1], 0)],
}


def test_what_is_written_comes_back() -> None:
    assert unpacked(json.loads(packed(CONTENT, CASES))) == (CONTENT, CASES)


def test_cases_without_runs_come_back_too() -> None:
    nothing = {**CONTENT, "runs": []}
    assert unpacked(json.loads(packed(nothing, CASES))) == (nothing, CASES)


def test_a_case_and_a_machine_stand_there_once_and_a_run_on_a_line() -> None:
    lines = packed(CONTENT, CASES).splitlines()
    assert sum('"M = 100"' in line for line in lines) == 1
    assert sum('"two cores"' in line for line in lines) == 2  # of two revisions
    assert sum('"seed"' in line for line in lines) == 3


def test_a_training_under_two_names_belongs_to_the_first() -> None:
    cases = [CASES[0], {**CASES[0], "row": "ablation: nothing left out"}]
    file = json.loads(packed({**CONTENT, "runs": CONTENT["runs"][:2]}, cases))
    assert [len(row["runs"]) for row in file["rows"]] == [2, 0]


def test_one_revision_on_two_machines_is_two_places() -> None:
    runs = [run(CASES[0], 0), run(CASES[0], 1, machine="a cluster"), run(CASES[0], 2)]
    content = {**CONTENT, "runs": runs}
    file = json.loads(packed(content, CASES))
    assert list(file["made"]) == ["abc", "abc (2)"]
    assert unpacked(file)[0] == content
