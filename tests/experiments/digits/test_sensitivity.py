"""Sensitivity reads the ledger: exact numbers from made-up runs, none from too few, and never stale ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.digits.sensitivity import EXPERIMENT, SOURCES, cases, run
from experiments.ledger.experiment import settings_of
from experiments.ledger.ledger import read_result, reproduce
from experiments.ledger.result_file import packed

ROWS = [("β = γ, as printed", "β = 1"), ("β = γ, as printed", "β = 2"), ("γ = 3, class rewarded", "β = 1")]

CASES = [{"row": row, "column": column, "setting": place} for place, (row, column) in enumerate(ROWS)]


def ledger(folder: Path, scores: dict[int, list[float]]) -> None:
    """Runs of mnist-tradeoff, by their place in ``ROWS``."""
    runs = [
        {"case": CASES[i], "seed": seed, "numbers": {"gap": value}, "cpu_seconds": 1.0}
        for i, values in scores.items()
        for seed, value in enumerate(values)
    ]
    text = packed({"experiment": "mnist-tradeoff", "tier": "quick", "runs": runs, "plots": []}, CASES)
    (folder / "mnist-tradeoff.json").write_text(text)


def row_of(content: dict, title: str) -> dict[str, float]:
    return next(one["numbers"] for one in content["runs"] if one["case"]["row"] == title)


def made(folder: Path) -> dict:
    return reproduce(EXPERIMENT, "quick", 3, folder, 2, lambda text: None)


def test_the_parts_of_the_variance_of_runs_in_the_ledger(tmp_path: Path) -> None:
    ledger(tmp_path, {0: [0.0, 2.0], 1: [10.0, 12.0], 2: [100.0, 0.0]})
    title = "mnist-tradeoff, β = γ: I(y; class) - max I(y; style_d)"
    found = row_of(made(tmp_path), title)
    assert found["seed"] == pytest.approx(100 * 2 / 51)
    assert (found["seed_sd"], found["weights_sd"]) == (pytest.approx(2**0.5), 7.0)
    assert (found["settings"], found["runs"]) == (2, 4)
    ledger(tmp_path, {0: [0.0, 2.0], 1: [1.0, 1.0]})  # read anew, without --again
    content = made(tmp_path)
    assert row_of(content, title)["seed"] == 100.0
    assert [one["seed"] for one in content["runs"]] == [0] * len(cases("quick"))
    assert read_result(tmp_path, "sensitivity") == content


def test_too_few_runs_say_nothing(tmp_path: Path) -> None:
    ledger(tmp_path, {0: [0.0, 2.0]})
    assert all(one["numbers"] == {} for one in made(tmp_path)["runs"])


def test_rows_and_measures_of_its_sources_are_there() -> None:
    for source in SOURCES:
        there = {case["row"] for case in source.experiment.cases("quick")}
        assert set(source.rows) <= there
        assert set(source.measures) <= {measure.key for measure in source.experiment.measures}


def test_the_toy_is_exact() -> None:
    (case,) = cases("smoke")
    assert run(settings_of(case), 0, None)["weights_sd"] == 7.0
