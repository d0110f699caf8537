"""Every item of the papers names rows that there are, and the README's items are among them."""

from __future__ import annotations

import pytest

from experiments.ledger.registry import EXPERIMENTS
from experiments.papers import ITEMS, PAPERS, README_ITEMS


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper}, {item.name}")
def test_its_rows_are_cases(item) -> None:
    assert item.paper in PAPERS
    assert item.experiment or item.why
    if not item.experiment:
        return
    one = EXPERIMENTS[item.experiment]
    places = {(case["row"], case.get("column", "")) for case in one.cases("quick")}
    keys = {measure.key for measure in one.measures}
    assert item.measure in ("", *keys)
    for place in (item.model, item.best, item.baseline):
        row, _, key = place.partition("/")
        for column in item.curve or [item.column]:
            assert not row or (row, column) in places, place
        assert key in ("", *keys)
    assert item.model or item.why  # who has no row with the paper's own model says why


def test_the_readme_s_items_are_on_the_scoreboard() -> None:
    names = {item.name for item in ITEMS}
    assert set(README_ITEMS) == set(PAPERS)
    assert all(name in names for both in README_ITEMS.values() for name in both)
