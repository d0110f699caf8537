"""Findings about predictions, both ways: faults, what merely looks like one, and how often chance is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, binomtest, ttest_1samp

from tests.statistics import FAILURE_RATE
from tests.workflow.verdict.made import out_of_fold
from unknot.workflow.counterfactuals.counterfactual import Agreement, Counterfactual
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.verdict.comparison import Comparison
from unknot.workflow.verdict.finding import Finding
from unknot.workflow.verdict.predictions import (
    below_linear,
    chance_of_being_worse,
    class_shares,
    few_labels,
    lower_tail,
    overconfident,
    overfitting,
    unchanged,
)
from unknot.workflow.verdict.unseen import Unseen


def wrong(share: float, items: int = 400) -> np.ndarray:
    """Losses of a model that errs in so many items, evenly spread over them."""
    return (np.arange(items) * 7919 % items < share * items).astype(float)


GOOD = Comparison(
    "digit", MEASURES["error"], wrong(0.05), wrong(0.2), wrong(0.9), wrong(0.0, 100), 100, 100, "held-out"
)


def test_overfitted_labels() -> None:
    (found,) = overfitting(replace(GOOD, model=wrong(0.4)))
    assert "0.00 % on the labels it was trained on and 40.00 % on 400 held-out items" in found.text
    assert overfitting(GOOD) == []  # a good encoder from few labels errs a little more on other items
    assert overfitting(replace(GOOD, model=wrong(0.4), of="training")) == []
    assert (
        overfitting(replace(GOOD, model=wrong(0.4), training=wrong(0.3, 100))) == []
    )  # hard, not overfitted
    assert overfitting(replace(GOOD, model=wrong(0.4, 5))) == []  # two of five may be chance


def test_a_linear_model_that_reads_better() -> None:
    (found,) = below_linear(replace(GOOD, model=wrong(0.3)))
    assert (
        "on 400 held-out items the error is 30.00 %, and 20.00 % for a linear model on the same 100 labels"
        in found.text
    )
    (found,) = below_linear(replace(GOOD, model=wrong(0.3), of="training"))
    assert "even on the labels the model was trained on" in found.text
    assert "%" not in found.text  # an error on training labels is no error
    (found,) = below_linear(replace(GOOD, model=wrong(0.3), labels=60000))
    assert "on 100 of the 60,000 labels" in found.text
    assert below_linear(GOOD) == []
    assert below_linear(replace(GOOD, model=GOOD.linear)) == []
    assert below_linear(replace(GOOD, model=wrong(0.3, 20), linear=wrong(0.2, 20))) == []  # chance
    (found,) = below_linear(replace(GOOD, model=wrong(0.5, 40), linear=wrong(0.3, 40), of="out-of-fold"))
    assert (
        "on 40 out-of-fold labels the error is 50.00 %, and 30.00 % for a linear model on the same"
        in found.text
    )


def test_the_gravity_follows_the_chance() -> None:
    losses = np.zeros((2, 100))
    losses[0, :9], losses[1, 9] = 1, 1  # nine against one: McNemar's p is 0.011
    one = replace(GOOD, model=losses[0], linear=losses[1])
    assert [found.gravity for found in below_linear(one)] == ["amber"]
    losses[0, 10:12] = 1  # eleven against one: 0.003
    assert [found.gravity for found in below_linear(one)] == ["red"]


def test_the_tests_are_scipys() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        signs, numbers = rng.integers(-1, 2, 30).astype(float), rng.normal(0.2, 1, 30)
        more, fewer = int((signs > 0).sum()), int((signs < 0).sum())
        expected = binomtest(more, more + fewer, alternative="greater").pvalue
        assert chance_of_being_worse(signs, signs=True) == pytest.approx(expected)
        expected = ttest_1samp(numbers, 0, alternative="greater").pvalue
        assert chance_of_being_worse(numbers, signs=False) == pytest.approx(expected)
    assert chance_of_being_worse(np.zeros(10), signs=True) == 1.0
    assert chance_of_being_worse(np.ones(1), signs=False) == 1.0


@pytest.mark.parametrize("classes", [True, False])
def test_equal_models_are_called_worse_as_seldom_as_the_levels_say(classes: bool) -> None:
    rng = np.random.default_rng(0)
    measure = MEASURES["error" if classes else "root mean square error"]
    found = []
    for _ in range(1000):
        model, linear = (
            (rng.random((2, 100)) < 0.3).astype(float) if classes else rng.normal(size=(2, 200)) ** 2
        )
        constant = np.full(len(model), 0.5 if classes else 2.0)
        found += below_linear(
            Comparison("size", measure, model, linear, constant, model, 50, 50, "out-of-fold")
        )
    red = sum(one.gravity == "red" for one in found)
    assert binom.sf(len(found) - 1, 1000, 0.025) > FAILURE_RATE
    assert binom.sf(red - 1, 1000, 0.005) > FAILURE_RATE


def test_much_worse_models_are_found() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(200):  # 100 labels, 60 % and 37 % wrong: the solar cells
        model, linear = (rng.random((2, 100)) < [[0.6], [0.37]]).astype(float)
        found += bool(below_linear(replace(GOOD, model=model, linear=linear, constant=np.full(100, 0.42))))
    assert found > 150


# ---- Probabilities ----------------------------------------------------------------------------------------


def unseen(labels: np.ndarray, predictions: np.ndarray) -> Unseen:
    names = tuple("abcdefgh"[: predictions.shape[1]])
    return Unseen("kind", MEASURES["error"], names, np.arange(len(labels)), labels, predictions, 5)


def draw(rng: np.random.Generator, count: int, classes: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and labels drawn from them: a calibrated model."""
    logits = rng.normal(0, spread, (count, classes)) + rng.normal(0, 1, classes)
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return (rng.random((count, 1)) > probabilities.cumsum(1)[:, :-1]).sum(1), probabilities


def test_confidence_that_exceeds_accuracy() -> None:
    one = out_of_fold(np.arange(100) % 2, right=0.74, linear=0.74, confidence=0.98)
    (found,) = overconfident(unseen(one.labels, one.predictions))
    assert "their mean probability is 98 %, but 74 % of 100 out-of-fold labels are right" in found.text
    assert found.gravity == "red"
    one = out_of_fold(np.arange(100) % 2, right=0.9, linear=0.9, confidence=0.98)
    assert overconfident(unseen(one.labels, one.predictions)) == []  # by 0.08 only
    one = out_of_fold(np.arange(10) % 2, right=0.7, linear=0.7, confidence=0.85)
    assert overconfident(unseen(one.labels, one.predictions)) == []  # three of ten may be chance
    one = out_of_fold(np.arange(100) % 2, right=0.98, linear=0.98, confidence=0.74)
    assert overconfident(unseen(one.labels, one.predictions)) == []  # underconfident


def test_a_class_that_is_predicted_too_often() -> None:
    labels = np.repeat([0, 1, 2], [54, 42, 4])
    predictions = np.tile([0.42, 0.32, 0.26], (100, 1))
    (found,) = class_shares(unseen(labels, predictions))
    assert "from those of 100 out-of-fold labels: c 26 % predicted, 4 % of the labels" in found.text
    assert found.gravity == "amber"
    assert class_shares(unseen(labels, np.tile([0.54, 0.42, 0.04], (100, 1)))) == []
    assert class_shares(unseen(labels[::10], predictions[::10])) == []  # ten labels may be chance


@pytest.mark.parametrize("rule", [overconfident, class_shares])
def test_calibrated_models_are_reported_as_seldom_as_the_level_says(
    rule: Callable[[Unseen], list[Finding]],
) -> None:
    rng = np.random.default_rng(4)
    alarms = sum(
        bool(rule(unseen(*draw(rng, int(rng.integers(20, 120)), int(rng.integers(2, 8)), 1.5))))
        for _ in range(1000)
    )
    assert binom.sf(alarms - 1, 1000, 0.01) > FAILURE_RATE


def test_tails_are_those_of_sums_of_independent_draws() -> None:
    rng = np.random.default_rng(5)
    for count in (1, 7, 40):
        p = rng.random(count)
        some = rng.random((20000, count)) < p
        for most in {0, count // 2, count}:
            share = (some.sum(1) <= most).mean()
            assert abs(lower_tail(p, most) - share) < 5 * 0.5 / 20000**0.5
    equal = np.full(30, 0.3)
    np.testing.assert_allclose(
        [lower_tail(equal, k) for k in range(31)], binom.cdf(range(31), 30, 0.3), rtol=1e-9
    )
    many = np.full(6000, 0.3)
    np.testing.assert_allclose(lower_tail(many, 1750), binom.cdf(1750, 6000, 0.3), rtol=0.02)


# ---- How much is known ------------------------------------------------------------------------------------


def test_an_interval_wider_than_a_third_says_too_little() -> None:
    one = out_of_fold(np.arange(20) % 2, right=0.8, linear=0.8)
    (found,) = few_labels(unseen(one.labels, one.predictions), None)
    assert (
        "on 20 out-of-fold labels the error is 20.00 %, and its 95 % interval is 5.3 to 52.8 %" in found.text
    )
    worst = out_of_fold(np.arange(88) % 2, right=0.5, linear=0.5)
    assert (
        few_labels(unseen(worst.labels, worst.predictions), None) == []
    )  # 88 labels in five folds are enough


def test_few_numbers() -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(400, 1))
    guess = truth + 0.5 * rng.normal(size=(400, 1))

    def numbers(count: int) -> Unseen:
        return Unseen(
            "size", MEASURES["root mean square error"], (), np.arange(count), truth[:count], guess[:count]
        )

    assert few_labels(numbers(400), 1.0) == []
    assert [one.kind for one in few_labels(numbers(5), 1.0)] == ["few labels"]
    assert "is not known" in few_labels(numbers(1), 1.0)[0].text


# ---- Factors that do not change ---------------------------------------------------------------------------


def changed(share: float, items: int = 100, settings: int = 4, real: float | None = None) -> Counterfactual:
    return Counterfactual(
        "kind", settings, items, 0, Agreement(share, 0.05, real), None, {}, ("style",), None, None
    )


def test_a_factor_that_does_not_change() -> None:
    (found,) = unchanged([changed(0.27), changed(0.9)])
    assert "kind does not change: it was set to 4 values in each of 100 items" in found.text
    assert changed(0.27).verdict.startswith("kind does not change")
    assert unchanged([changed(0.5)]) == []
    assert unchanged([changed(0.27, items=20)]) == []  # so few items say little


@pytest.mark.parametrize("settings", range(2, 11))
def test_factors_that_change_are_reported_as_seldom_as_the_level_says(settings: int) -> None:
    """The worst case: 0.35 beyond chance, the fewest items, and the same outcome for all settings of an item."""
    reported = [bool(unchanged([changed(k / 25, items=25, settings=settings)])) for k in range(26)]
    assert binom.pmf(range(26), 25, 1 / settings + 0.35) @ reported <= 0.01
    assert reported[round(25 / settings)]
