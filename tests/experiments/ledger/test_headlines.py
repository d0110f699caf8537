"""The headlines speak of cells that there are."""

from __future__ import annotations

import pytest

from experiments.ledger.headlines import HEADLINES, Headline
from experiments.ledger.registry import EXPERIMENTS


@pytest.mark.parametrize("line", HEADLINES, ids=lambda line: line.experiment)
def test_its_cell_and_the_simple_one_are_cases(line: Headline) -> None:
    cases = EXPERIMENTS[line.experiment].cases("quick")
    places = {(case["row"], case.get("column", "")) for case in cases}
    assert not line.simple or (line.simple, line.column) in places
    if EXPERIMENTS[line.experiment].short is None:
        assert (cases[0]["row"], line.column) in places
        assert bool(line.simple) == bool(line.simple_words)
    else:  # it says its line itself
        assert line.simple_words
        assert not line.simple


def test_a_newcomer_reads_at_most_ten() -> None:
    assert len(HEADLINES) <= 10
