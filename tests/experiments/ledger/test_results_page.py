"""The scoreboard's page and the README's table."""

from __future__ import annotations

import pytest

from experiments.ledger.ledger import reproduce
from experiments.ledger.results_page import readme_table, results_pages, with_summary
from experiments.ledger.scoreboard import Item
from tests.experiments.toy import CASE, constant, install, toy
from unknot.errors import SpecError

ALONE = {"row": "alone", "column": "M = 100", "labels": 1}
ITEMS = [
    Item("S17", "error, M = 100", "toy", (9.71, 0.91), column="M = 100", model="ours", baseline="alone"),
    Item("S17", "a picture", "toy", why="not drawn"),
]
PAPERS = {"S17": "a paper"}


def test_index_and_readme_show_verdicts_seeds_and_what_is_missing(tmp_path, monkeypatch) -> None:
    one = toy(constant(12.0), [CASE, ALONE])
    reproduce(install(monkeypatch, one), "quick", 2, tmp_path, 1, lambda text: None)
    (tmp_path / "protocols.md").write_text("| where |\n|---|\n")
    pages = results_pages([one], ITEMS, PAPERS, tmp_path, {"toy": "other"})
    assert set(pages) == {"index.md", "gallery.md", "toy.md", "toy.csv"}
    index = pages["index.md"]
    assert "1 not reproduced, 1 not attempted." in index.lower()
    assert "| not attempted: not drawn | [toy](toy.md) |" in index
    assert "- **S17, error, M = 100** (not reproduced): the paper has 9.71 ± 0.91 [P] %" in index
    assert (
        index.index("## S17") < index.index("## Not reproduced") < index.index("## Differences of protocol")
    )
    table = readme_table([one], ITEMS, PAPERS, {"S17": ("error, M = 100",) * 2}, tmp_path, {})
    own, best = table.splitlines()[2:4]
    assert "12.00" in own
    assert own.endswith("| 2° | not reproduced |")
    assert "S17, our best" in best
    assert "S17: 1 not reproduced, 1 not attempted." in table


def test_a_page_without_marks_is_refused() -> None:
    assert with_summary("a <!-- results -->old<!-- end of results --> b", "new") == (
        "a <!-- results -->\nnew\n<!-- end of results --> b"
    )
    with pytest.raises(SpecError, match="no place for results"):
        with_summary("", "new")
