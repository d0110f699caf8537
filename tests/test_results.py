"""The pages of results are those that the ledger makes: no number is typed by hand."""

from pathlib import Path

from unknot.experiments.registry import EXPERIMENTS
from unknot.experiments.results_page import results_page, results_summary, with_summary

ROOT = Path(__file__).parent.parent


def test_the_page_is_made_from_the_ledger() -> None:
    assert (ROOT / "docs" / "results.md").read_text() == results_page(EXPERIMENTS.values(), ROOT / "results")


def test_the_readme_shows_the_ledger() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme == with_summary(readme, results_summary(EXPERIMENTS.values(), ROOT / "results"))
