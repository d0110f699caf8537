"""The pages of results are those that the ledger makes: no number is typed by hand."""

from pathlib import Path

import pytest

from experiments.__main__ import readme_text
from experiments.ledger.jobs import job_key
from experiments.ledger.ledger import read_result, summarize
from experiments.ledger.provenance import read_present_code
from experiments.ledger.registry import EXPERIMENTS
from experiments.ledger.results_page import results_pages, with_summary
from experiments.papers import ITEMS, PAPERS

ROOT = Path(__file__).parent.parent
RESULTS, PAGES = ROOT / "results", ROOT / "docs" / "results"
LONGEST_INDEX = 250  # lines


def test_the_pages_are_made_from_the_ledger() -> None:
    """Marks of changed code are those of the last `python -m experiments page`, so that code may change between."""
    pages = results_pages(EXPERIMENTS.values(), ITEMS, PAPERS, RESULTS, read_present_code(RESULTS))
    assert {path.name for path in PAGES.iterdir()} == set(pages)
    for name, text in pages.items():
        assert (PAGES / name).read_text() == text, f"docs/results/{name}: run `python -m experiments page`"


def test_the_scoreboard_is_short() -> None:
    assert len((PAGES / "index.md").read_text().splitlines()) <= LONGEST_INDEX


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_tables_are_at_most_eight_columns_wide_and_links_lead_somewhere(path: Path) -> None:
    import re

    text = path.read_text()
    for line in text.splitlines():
        if line.startswith("| ") and not path.stem.startswith("own-data"):
            assert line.replace(r"\|", "").count("|") <= 9, line
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.md")), ids=lambda path: path.stem)
def test_notes_are_short(path: Path) -> None:
    if path.stem.startswith("own-data") or path.stem == "protocols":
        pytest.skip("has other limits")
    assert len(path.read_text().split()) <= 200


def test_the_readme_shows_the_ledger() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme == with_summary(readme, readme_text(RESULTS, read_present_code(RESULTS)))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_are_of_the_settings_that_the_code_has(name: str) -> None:
    content = read_result(RESULTS, name)
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
        assert (RESULTS / "figures" / name / name_of_picture).exists()
