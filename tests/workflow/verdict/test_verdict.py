"""The verdict on small real trainings: silent on good ones, and what it says of bad ones."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import binom, linregress

from tests.statistics import FAILURE_RATE
from tests.workflow.models import untrained
from unknot import StructuredVAE
from unknot.data.from_arrays import from_arrays
from unknot.errors import TrainingWarning
from unknot.models import node
from unknot.train.objective import resolve
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.verdict.comparison import Comparison
from unknot.workflow.verdict.verdict import (
    Verdict,
    below_linear,
    collapsed,
    improving,
    judge,
    overfitting,
    still_improving,
    verdict,
)
from unknot.yaml_file import parse_yaml

RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 2, 400)
STYLE = RNG.normal(size=(400, 1))
X = np.concatenate([KIND[:, None] * 2.0 + 0.4 * RNG.normal(size=(400, 2)), STYLE, STYLE], 1)
X[:, 3] += 0.1 * RNG.normal(size=400)  # the style is seen twice: worth a code


@pytest.fixture(scope="module")
def good() -> StructuredVAE:
    rate = {"name": "cosine", "start": 1e-2, "end": 1e-4}
    vae = StructuredVAE("class_style", style=1, steps=200, batch_size=100, learning_rate=rate, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        return vae.fit(X[:300], kind=KIND[:300])


def test_a_good_training_gives_no_warning_and_says_what_was_examined(good: StructuredVAE) -> None:
    data = [from_arrays(X[part], {"kind": KIND[part]}) for part in (slice(0, 300), slice(300, 400))]
    found = verdict(good.trained_, data[0], data[1], good.history_)
    assert found.findings == ()
    assert found.line.startswith("Nothing stands out. Examined: the information in the style")
    assert "kind on 100 held-out labels beside a linear model" in found.line


def test_without_held_out_labels_it_shows_no_error_and_says_why(good: StructuredVAE) -> None:
    train = from_arrays(X[:300], {"kind": KIND[:300]})
    for held_out in (None, from_arrays(X[300:])):
        line = verdict(good.trained_, train, held_out, good.history_).line
        assert "No error of kind is shown, because the only labels here are those that the model was" in line
        assert "%" not in line
    bare = StructuredVAE("class_style", style=1, steps=2, verdict=False, verbose=False).fit(X)
    assert "No error" not in verdict(bare.trained_, from_arrays(X), None, []).line  # it has no factors


def test_a_training_of_a_few_steps_is_worse_than_a_linear_model_and_the_estimator_warns() -> None:
    vae = StructuredVAE("class_style", style=1, steps=2, learning_rate=1e-5, verbose=False)
    with pytest.warns(TrainingWarning, match="Predictions of kind are worse than those of a linear model"):
        vae.fit(X, kind=KIND)


def test_it_can_be_switched_off() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        StructuredVAE("class_style", style=1, steps=2, learning_rate=1e-5, verdict=False, verbose=False).fit(
            X, kind=KIND
        )


def test_looking_leaves_the_model_and_the_random_numbers_as_they_were(good: StructuredVAE) -> None:
    before, weights = (
        torch.get_rng_state(),
        {n: p.clone() for n, p in good.trained_.module.state_dict().items()},
    )
    verdict(good.trained_, from_arrays(X, {"kind": KIND}), None, good.history_)
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(p, weights[n]) for n, p in good.trained_.module.state_dict().items())


def test_a_verdict_without_data_says_so(good: StructuredVAE) -> None:
    assert "nothing, there is no data" in judge(good.trained_, [], [], []).line
    assert Verdict((), ("the curve",)).line == "Nothing stands out. Examined: the curve."


# ---- Every finding both ways: the thing that went wrong, and the run that merely looks like it -----------


def wrong(share: float, items: int = 400) -> np.ndarray:
    """Losses of an encoder that errs in so many items, evenly spread over them."""
    return (np.arange(items) * 7919 % items < share * items).astype(float)


GOOD = Comparison(
    "digit", MEASURES["error"], wrong(0.05), wrong(0.2), wrong(0.9), wrong(0.0, 100), 100, 100, True
)


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


def test_overfitted_labels() -> None:
    (found,) = overfitting(replace(GOOD, encoder=wrong(0.4)))
    assert "0.00 % on the labels it was trained on and 40.00 % on 400 held-out items" in found.text
    assert overfitting(GOOD) == []  # a good encoder from few labels errs a little more on other items
    assert overfitting(replace(GOOD, encoder=wrong(0.4), held_out=False)) == []
    assert (
        overfitting(replace(GOOD, encoder=wrong(0.4), training=wrong(0.3, 100))) == []
    )  # hard, not overfitted
    assert overfitting(replace(GOOD, encoder=wrong(0.4, 5))) == []  # two of five may be chance


def test_a_linear_model_that_reads_better() -> None:
    (found,) = below_linear(replace(GOOD, encoder=wrong(0.3)))
    assert (
        "on 400 held-out items the error is 30.00 %, and 20.00 % for a linear model on the same 100 labels"
        in found.text
    )
    (found,) = below_linear(replace(GOOD, encoder=wrong(0.3), held_out=False))
    assert "even on the labels the model was trained on" in found.text
    assert "%" not in found.text  # an error on training labels is no error
    (found,) = below_linear(replace(GOOD, encoder=wrong(0.3), labels=60000))
    assert "on 100 of the 60,000 labels" in found.text
    assert below_linear(GOOD) == []
    assert below_linear(replace(GOOD, encoder=GOOD.linear)) == []
    assert below_linear(replace(GOOD, encoder=wrong(0.3, 20), linear=wrong(0.2, 20))) == []  # chance


def test_equal_encoders_are_called_worse_as_seldom_as_the_level_says() -> None:
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(1000):
        both = rng.normal(size=(2, 200)) ** 2
        one = Comparison(
            "size", MEASURES["root mean square error"], *both, np.full(200, 2.0), both[0], 50, 50, True
        )
        alarms += bool(below_linear(one))
    assert alarms <= 20  # 5 are expected, and 20 would be six standard errors off


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
