"""Verdicts follow from numbers and intervals."""

from __future__ import annotations

import pytest

from experiments.ledger.experiment import Measure
from experiments.ledger.intervals import Number
from experiments.ledger.scoreboard import Item, Score, counts, judge, score
from tests.experiments.toy import CASE, OTHER, constant, toy

ERROR = Measure("error", "error", "%")
ITEM = Item("S17", "error", "toy", (5.0, 1.0), items=10_000)


def content(**values: list[float]) -> dict[str, object]:
    rows = [
        {
            "case": {**CASE, "row": row},
            "seeds": len(found),
            "numbers": {"error": {"mean": sum(found) / len(found), "sd": None, "values": found}},
            "cpu_seconds": 1.0,
        }
        for row, found in values.items()
    ]
    return {"tier": "quick", "summary": rows, "runs": []}


@pytest.mark.parametrize(
    ("model", "best", "verdict"),
    [
        ([5.9], None, "reproduced"),  # within the printed spread
        ([6.1], None, "not reproduced"),
        ([6.1], [4.0, 4.1, 4.2], "better by other means"),
        ([6.1], [4.0, 5.1], "not reproduced"),  # the interval holds the published number
        (None, [4.0, 4.1, 4.2], "better by other means"),
        (None, [5.5], "not attempted"),
        (None, None, "not attempted"),
    ],
)
def test_a_number_that_is_better_lower(model, best, verdict) -> None:
    def number(values):
        return None if values is None else Number(values, 10_000)

    assert judge(ITEM, number(model), number(best), ERROR) == verdict


def test_where_more_is_better_and_where_the_number_must_match() -> None:
    accuracy = Measure("accuracy", "accuracy", "%", "higher")
    assert judge(ITEM, Number([4.1]), None, accuracy) == "reproduced"
    assert judge(ITEM, Number([3.9]), None, accuracy) == "not reproduced"
    topics, count = Item("E19", "topics", "toy", (11.0, None)), Measure("active", "topics", better="match")
    assert judge(topics, Number([7.0]), None, count) == "not reproduced"  # fewer is not better
    assert judge(topics, Number([11.0]), None, count) == "reproduced"


def test_nothing_within_noise_is_bold_and_one_seed_is_told() -> None:
    one = toy(
        constant(1.0), [CASE, {**CASE, "row": "best", "labels": 1}, {**CASE, "row": "alone", "labels": 2}]
    )
    item = Item("S17", "error", "toy", (5.0, 1.0), "M = 100", "ours", "best", "alone", items=10_000)
    clear = score(item, one, content(ours=[5.5], best=[1.0, 1.1, 1.05], alone=[3.0, 3.1, 3.05]))
    assert clear.best.startswith("**1.05 [")
    assert clear.verdict_text == "reproduced, one seed"
    assert clear.seeds == "1 / 3 / 3"
    noise = score(item, one, content(ours=[5.5], best=[1.0, 1.1], alone=[1.0, 1.3]))
    assert not noise.best.startswith("**")
    missing = score(item, one, content(best=[1.0, 1.1, 1.05]))
    assert missing.verdict == "better by other means"
    assert missing.own == "not run"
    assert missing.not_run == 'python -m experiments run toy --only "ours" --seeds 3'


def test_a_curve_is_reproduced_where_every_point_is() -> None:
    one = toy(constant(1.0), [CASE, OTHER])
    item = Item("S17", "curve", "toy", model="ours", curve={"M = 100": 5.0, "M = 1000": 5.0}, spread=0.3)
    found = score(item, one, content(ours=[5.2]))
    assert found.model == "1 of 1 points as good, 1 not run"
    assert found.verdict == "not reproduced"


def test_what_is_not_written_says_why() -> None:
    found = score(Item("S17", "Fig. 2d", "", why="not written"), None, None)
    assert found.verdict_text == "not attempted: not written"
    assert isinstance(found, Score)
    assert counts([found]) == "1 not attempted"
