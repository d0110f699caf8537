"""The pages of results are those that the ledger makes: no number is typed by hand."""

from pathlib import Path

import pytest

from experiments.ledger.jobs import job_key
from experiments.ledger.ledger import read_result, summarize
from experiments.ledger.registry import EXPERIMENTS
from experiments.ledger.results_page import results_page, results_summary, with_summary

ROOT = Path(__file__).parent.parent


def test_the_page_is_made_from_the_ledger() -> None:
    assert (ROOT / "docs" / "results.md").read_text() == results_page(EXPERIMENTS.values(), ROOT / "results")


def test_the_readme_shows_the_ledger() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme == with_summary(readme, results_summary(EXPERIMENTS.values(), ROOT / "results"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_are_of_the_settings_that_the_code_has(name: str) -> None:
    content = read_result(ROOT / "results", name)
    if content is None:
        pytest.skip("not run yet")
    settings = {job_key(case, 0) for case in EXPERIMENTS[name].cases("quick")}
    assert {job_key(run["case"], 0) for run in content["runs"]} <= settings
    numbers = {job_key(row["case"], 0): row["numbers"] for row in summarize(content["runs"])}
    for row in content["summary"]:
        assert row["numbers"] == numbers[job_key(row["case"], 0)]
    for name_of_picture in [
        *content["plots"],
        *(p for run in content["runs"] for p in run.get("figures", [])),
    ]:
        assert (ROOT / "results" / "figures" / name / name_of_picture).exists()
