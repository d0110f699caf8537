"""Findings about the training: collapsed styles, and curves that were still falling, whatever the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom, linregress

from tests.statistics import FAILURE_RATE
from tests.workflow.models import untrained
from unknot.models import node
from unknot.train.objective import resolve
from unknot.workflow.verdict.training import collapsed, improving, still_improving
from unknot.yaml_file import parse_yaml


def test_a_style_that_holds_nothing_has_collapsed() -> None:
    nodes = [
        node("light", "normal", 1, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x"]),
        node("x", "bernoulli", parents=["light", "style"]),
    ]
    model = untrained(nodes, (1, 6, 6))
    (found,) = collapsed(model, [("style[0]", 0.004), ("style[1]", 0.0), ("light[0]", 0.0)])
    assert found.kind == "collapsed"
    assert found.text.startswith("style has collapsed: none of its 2 dimensions")
    assert "beta: {style: 0.5}" in found.text
    assert collapsed(model, [("style[0]", 0.4), ("style[1]", 0.0), ("light[0]", 0.0)]) == []
    assert collapsed(model, []) == []


def test_without_labels_what_is_advised_against_a_collapse_can_be_done() -> None:
    nodes = [node("style", "normal", 2, inferred_from=["x"]), node("x", "normal", parents=["style"])]
    (found,) = collapsed(untrained(nodes, (3,)), [("style[0]", 0.0), ("style[1]", 0.0)])
    assert "factors" not in found.text
    advised = parse_yaml(found.text.partition("(")[2].removesuffix(")."))
    resolve(advised["objective"], dataset_size=4)


def test_a_curve_that_falls_to_the_end() -> None:
    falling = [{"step": 50 * i, "loss": 100.0 - i} for i in range(1, 21)]
    (found,) = improving(falling)
    assert "from step 800 to the last, 1,000, the loss went from 84 to 80" in found.text
    assert "steps: 2000" in found.text
    assert improving([{**record, "loss": 3.0} for record in falling]) == []


# ---- The end of a curve: settled ones are left alone, falling ones are found, whatever the noise ---------


def records(values: np.ndarray, **more: Any) -> list[dict[str, Any]]:
    return [{"step": 50 * (i + 1), "loss": float(v), **more} for i, v in enumerate(values)]


def test_settled_curves_are_left_alone_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(1000):
        count = int(rng.integers(8, 60))
        settled = 10 * np.exp(-np.linspace(0, 30, count))  # the fall is over long before the last quarter
        alarms += still_improving(records(20 + settled + rng.normal(0, 3.0, count))) is not None
    assert binom.sf(alarms - 1, 1000, 0.005) > FAILURE_RATE


def test_a_curve_that_falls_to_its_end_is_found_with_its_numbers() -> None:
    rng = np.random.default_rng(1)
    for count in (8, 20, 100):
        trend = still_improving(records(100 - np.linspace(0, 50, count) + rng.normal(0, 0.1, count)))
        assert trend is not None
        assert trend.last_step == 50 * count
        assert trend.start > trend.end
        assert abs(trend.end - 50) < 1


def test_the_slope_is_judged_as_scipy_does() -> None:
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(200):
        values = np.concatenate(
            [np.linspace(100, 10, 30), 10 - np.linspace(0, 4, 10) + rng.normal(0, 2.5, 10)]
        )
        end = linregress(np.arange(10), values[30:], alternative="less")
        gain = -9 * end.slope
        fitted_end = end.intercept + 9 * end.slope
        expected = end.pvalue < 0.005 and gain >= 0.02 * (values[0] - fitted_end)
        assert (still_improving(records(values)) is not None) == expected
        seen.add(expected)
    assert seen == {True, False}  # the curves are such that both happen


def test_a_gain_that_is_next_to_nothing_is_not_worth_a_word() -> None:
    slow = np.concatenate([np.linspace(100, 10, 30), np.linspace(10, 9.5, 10)])
    assert still_improving(records(slow)) is None


def test_a_learning_rate_that_has_run_out_ends_training_by_intent() -> None:
    falling = records(np.linspace(100, 50, 20))
    for i, record in enumerate(falling):
        record["learning_rate"] = 1e-2 * (19 - i) / 19
    assert still_improving(falling) is None
    assert still_improving([{**r, "learning_rate": 1e-2} for r in falling]) is not None


def test_a_validation_score_is_what_counts_where_there_is_one() -> None:
    falling = records(np.linspace(100, 50, 20), validation=0.9)
    assert still_improving(falling) is None  # the loss goes on falling, the score does not rise
    rising = [{**r, "validation": i / 20} for i, r in enumerate(falling)]
    trend = still_improving(rising)
    assert trend is not None
    assert (trend.name, round(trend.end, 6)) == ("validation", 0.95)


def test_short_and_damaged_curves_say_nothing() -> None:
    assert still_improving([]) is None
    assert still_improving(records(np.linspace(100, 50, 7))) is None
    broken = np.linspace(100, 50, 20)
    broken[3] = np.nan
    assert still_improving(records(broken)) is None
