"""Findings about predictions: each compares them with labels that the model was not trained on.

Rules that test for chance state their false-alarm rate: how often a model without the fault is reported.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.verdict.comparison import Comparison
from unknot.workflow.verdict.finding import Finding, Gravity
from unknot.workflow.verdict.unseen import Unseen

_DOUBT, _CLEAR = 0.025, 0.005  # false-alarm rates of "worse than a linear model": amber, and red
_WORTH = 0.02  # a difference worth reporting, as a share of the loss of a constant prediction
_REACH = 2.58  # standard errors: one comparison in 200 is called overfitted by chance
_FAR = (
    0.2  # held-out items this much worse than training items, as a share of the loss of a constant prediction
)
_NEAR_ZERO = 0.25  # the loss on training items, as a share of that on held-out ones
_CALIBRATION = 0.01  # the false-alarm rate of "overconfident" and of "class shares", per factor
_GAP = 0.1  # by which confidence may exceed accuracy
_SHARE_GAP = 0.05  # by which a class's predicted share may depart from its share of the labels
_WIDE = 0.3  # an interval that leaves this much open says next to nothing
_FEW_ITEMS = 25  # below which a share of changed items is too uncertain for a finding
_NAMED = 3  # classes that a sentence lists
_EXACT = 5000  # items up to which a tail is summed exactly


def below_linear(comparison: Comparison) -> list[Finding]:
    """Predictions that are worse than those of a linear model on the same labels, item by item.

    For classes the exact test of McNemar, for numbers Student's paired test of the squared errors, one-sided. A model
    that is as good as the linear one is reported in at most 2.5 % of the cases (amber), in red in 0.5 %.

    Without unseen labels the linear model is cross-fitted while the model is not. A worse model is then worse on any
    data, but none of the two numbers is an error on new items, so none is given.
    """
    worse = comparison.model - comparison.linear
    level = chance_of_being_worse(worse, signs=comparison.measure.share)
    if worse.mean() <= _WORTH * comparison.constant.mean() or level > _DOUBT:
        return []
    gravity: Gravity = "red" if level <= _CLEAR else "amber"
    advice = "Train longer, give the labels more weight (alpha), or use the linear model."
    start = f"Predictions of {comparison.factor} are worse than those of a linear model"
    if not comparison.unseen:
        return [
            Finding(
                "below linear", f"{start}, even on the labels the model was trained on. {advice}", gravity
            )
        ]
    total, text = comparison.measure.total, comparison.measure.text
    which = "held-out items" if comparison.of == "held-out" else "out-of-fold labels"
    numbers = (
        f"on {len(worse):,} {which} the {comparison.measure.name} is {text(total(comparison.model))}, and "
        f"{text(total(comparison.linear))} for a linear model on {same_labels(comparison)}"
    )
    return [Finding("below linear", f"{start}: {numbers}. {advice}", gravity)]


def chance_of_being_worse(worse: np.ndarray, *, signs: bool) -> float:
    """Return the level at which differences of losses have a mean above zero.

    Parameters
    ----------
    worse : ndarray, shape (n,)
        Differences of losses, item by item.
    signs : bool
        Whether the differences are -1, 0 and 1: then the binomial test of those that are not zero (McNemar's exact
        test), otherwise Student's t-test.
    """
    from scipy.special import bdtrc, stdtr

    if signs:
        more, fewer = int((worse > 0).sum()), int((worse < 0).sum())
        return float(bdtrc(more - 1, more + fewer, 0.5)) if more else 1.0
    error = np.sqrt(_variance(worse))
    return float(stdtr(len(worse) - 1, -worse.mean() / error)) if 0 < error < np.inf else 1.0


def same_labels(comparison: Comparison) -> str:
    """The labels of the linear model in words: all of the training labels, or as many as it is fitted to."""
    if comparison.of == "out-of-fold":
        return "the same labels"
    if comparison.fitted == comparison.labels:
        return f"the same {comparison.labels:,} labels"
    return f"{comparison.fitted:,} of the {comparison.labels:,} labels"


def overfitting(comparison: Comparison) -> list[Finding]:
    """Predictions that are almost right on training labels and far worse on held-out items.

    The difference has to be beyond 2.58 standard errors: a false-alarm rate of at most 0.5 %.
    """
    if comparison.of != "held-out":
        return []
    train, test = float(comparison.training.mean()), float(comparison.model.mean())
    error = np.sqrt(_variance(comparison.training) + _variance(comparison.model))
    gap, constant = test - train, float(comparison.constant.mean())
    if gap < max(_FAR * constant, _REACH * error) or train > _NEAR_ZERO * test:
        return []
    total, text = comparison.measure.total, comparison.measure.text
    return [
        Finding(
            "overfitting",
            f"The model overfits the labels of {comparison.factor}: its {comparison.measure.name} is "
            f"{text(total(comparison.training))} on the labels it was trained on and "
            f"{text(total(comparison.model))} on {len(comparison.model):,} held-out items. Give more labels, stop "
            "earlier (train: patience), or choose a smaller model.",
        )
    ]


def _variance(losses: np.ndarray) -> float:
    """The variance of the mean; infinite for one loss, of which it is unknown."""
    return float(losses.var(ddof=1) / len(losses)) if len(losses) > 1 else float("inf")


# ---- probabilities -----------------------------------------------------------------------------------


def overconfident(unseen: Unseen) -> list[Finding]:
    """A mean confidence that exceeds the accuracy by more than 0.1.

    If the probabilities were right, the number of right predictions would be a sum of independent draws with the
    confidences as probabilities. A number as low as the one observed has to have a probability of at most 1 % under
    them, which is the false-alarm rate.
    """
    right, confidence = int(unseen.right.sum()), float(unseen.confidence.mean())
    accuracy = right / len(unseen)
    if confidence - accuracy <= _GAP or lower_tail(unseen.confidence, right) > _CALIBRATION:
        return []
    text = (
        f"Predictions of {unseen.factor} are overconfident: their mean probability is {100 * confidence:.0f} %, but "
        f"{100 * accuracy:.0f} % of {unseen.where} are right. Do not use the probabilities as they are; give more "
        "labels, or calibrate them on labels that are kept for it."
    )
    return [Finding("overconfident", text, "red")]


def class_shares(unseen: Unseen) -> list[Finding]:
    """Classes whose predicted share departs from their share of the labels, beyond chance and by more than 0.05.

    The predicted share is the mean probability. If the probabilities were right, the number of labels of a class would
    be a sum of independent draws with these probabilities; both tails are tested, at 1 % over all classes (Bonferroni),
    which is the false-alarm rate.
    """
    count = unseen.predictions.shape[1]
    counts = np.bincount(unseen.truth, minlength=count)
    departed = []
    for k, (observed, probabilities) in enumerate(zip(counts, unseen.predictions.T, strict=True)):
        gap = float(probabilities.mean()) - observed / len(unseen)
        if gap > 0:
            chance = lower_tail(probabilities, observed)
        else:
            chance = lower_tail(1 - probabilities, len(unseen) - observed)
        if abs(gap) > _SHARE_GAP and 2 * chance * count <= _CALIBRATION:
            departed.append((abs(gap), k))
    if not departed:
        return []
    named = [k for _, k in sorted(departed, reverse=True)]
    listed = "; ".join(
        f"{unseen.classes[k]} {100 * unseen.predictions[:, k].mean():.0f} % predicted, "
        f"{100 * counts[k] / len(unseen):.0f} % of the labels"
        for k in named[:_NAMED]
    )
    more = f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    text = (
        f"The predicted shares of the classes of {unseen.factor} depart from those of {unseen.where}: {listed}{more}. "
        "Label items drawn at random, or give more labels of the classes that are predicted too often or too rarely."
    )
    return [Finding("class shares", text)]


def lower_tail(probabilities: np.ndarray, most: int) -> float:
    """Return P(at most ``most`` of independent events happen); a normal approximation beyond 5,000 events.

    >>> round(lower_tail(np.array([0.5, 0.5, 0.5]), 1), 3)
    0.5
    """
    from scipy.special import ndtr

    if len(probabilities) > _EXACT:
        spread = np.sqrt((probabilities * (1 - probabilities)).sum())
        distance = most + 0.5 - probabilities.sum()
        return float(ndtr(distance / spread)) if spread > 0 else float(distance >= 0)
    counts = np.zeros(len(probabilities) + 1)  # P(so many events), one event after the other
    counts[0] = 1.0
    for n, p in enumerate(probabilities.astype(np.float64), start=1):
        counts[1 : n + 1] = counts[1 : n + 1] * (1 - p) + counts[:n] * p
        counts[0] *= 1 - p
    return float(counts[: most + 1].sum())


def few_labels(unseen: Unseen, constant: float | None) -> list[Finding]:
    """An interval of the error that is wider than 0.3, or, for numbers, than 0.3 of the error of the mean.

    No test: the interval is what it is. 39 held-out labels, or 98 in three folds, are enough for any error rate.

    Parameters
    ----------
    unseen : Unseen
        The predictions.
    constant : float or None
        The error of always predicting the mean, for numbers.
    """
    interval = unseen.interval
    if interval is None:
        open_part = "its 95 % interval is not known"
    else:
        scale = 1.0 if unseen.measure.share or not constant else constant
        if interval[1] - interval[0] <= _WIDE * scale:
            return []
        open_part = f"its 95 % interval is {unseen.measure.span(interval)}"
    text = (
        f"There are too few labels of {unseen.factor} to say how good the predictions are: on {unseen.where} the "
        f"{unseen.measure.name} is {unseen.measure.text(unseen.value)}, and {open_part}. Give more labels."
    )
    return [Finding("few labels", text)]


# ---- factors -----------------------------------------------------------------------------------------


def unchanged(counterfactuals: Sequence[Counterfactual]) -> list[Finding]:
    """Factors that do not change when they are set to other values.

    A factor is reported if at most 0.1 more of the changed items than by chance are predicted as intended, of at least
    25 items. One that changes in 0.35 more than by chance is reported in at most 1 % of the cases.
    """
    return [
        Finding(
            "unchanged",
            f"{one.factor} does not change: it was set to {one.settings} values in each of {one.items:,} items, and "
            "hardly more of the results than by chance are predicted to have the value that was set. What is generated "
            f"says nothing about {one.factor}: give more labels, or train longer.",
        )
        for one in counterfactuals
        if one.does_not_change and one.items >= _FEW_ITEMS
    ]
