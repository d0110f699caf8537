"""Answers: how good the predictions of each factor are on labels that were not trained on, in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unknot.report.section import three_digits
from unknot.workflow.verdict.comparison import Comparison
from unknot.workflow.verdict.unseen import Unseen

UNSURE = 0.6  # predictions whose probability is below this are called unsure
_MANY = 1000  # labels from which shares have a decimal


@dataclass(frozen=True)
class Answer:
    """What is known of the predictions of one factor.

    Parameters
    ----------
    factor : str
        The factor.
    headline : str
        How often the predictions are right, or how far off they are, beside simple baselines.
    doubts : str
        What the predictions are unsure about; empty for numbers.
    source : str
        Which labels this was measured on.
    """

    factor: str
    headline: str
    doubts: str
    source: str

    def __str__(self) -> str:
        return " ".join(filter(None, (f"{self.factor}:", self.headline, self.doubts, self.source)))


def answers(unseen: Sequence[Unseen], comparisons: Sequence[Comparison]) -> list[Answer]:
    """Return one answer for each factor with unseen labels."""
    beside = {(one.factor, one.of): one for one in comparisons if one.unseen}
    made = []
    for one in unseen:
        comparison = beside.get((one.factor, "out-of-fold" if one.folds else "held-out"))
        if one.measure.share:
            made.append(Answer(one.factor, _classes(one, comparison), _doubts(one), _source(one)))
        else:
            made.append(Answer(one.factor, _numbers(one, comparison), "", _source(one)))
    return made


def _baselines(comparison: Comparison) -> str:
    """The scores of a linear model on the same labels and of a constant prediction, in words."""
    if comparison.measure.share:
        linear, constant = (
            _of_100(1 - values.mean(), len(values)) for values in (comparison.linear, comparison.constant)
        )
        return f"a linear model in {linear}, always the most frequent class in {constant}"
    total = comparison.measure.total
    linear, constant = (three_digits(total(values)) for values in (comparison.linear, comparison.constant))
    return f"a linear model by {linear}, always the mean by {constant}"


def _classes(one: Unseen, comparison: Comparison | None) -> str:
    low, high = one.interval or (0.0, 1.0)
    right, ends = _of_100(1 - one.value, len(one)), (_of_100(1 - end, len(one)) for end in (high, low))
    beside = "" if comparison is None else f"; {_baselines(comparison)}"
    return f"On labels it had not seen, it is right in {right} of 100 (95 % interval {' to '.join(ends)}){beside}."


def _numbers(one: Unseen, comparison: Comparison | None) -> str:
    interval = (
        "" if one.interval is None else f"; 95 % interval {' to '.join(map(three_digits, one.interval))}"
    )
    beside = "" if comparison is None else f"; {_baselines(comparison)}"
    return f"On labels it had not seen, it is off by {three_digits(one.value)} ({one.measure.name}{interval}){beside}."


def _of_100(share: float, count: int) -> str:
    """A share as a number of 100, with a decimal where so many labels can tell."""
    return f"{100 * share:.{int(count >= _MANY)}f}"


def _doubts(one: Unseen) -> str:
    unsure = one.confidence < UNSURE
    if not unsure.any():
        text = f"It is unsure about none of them: every prediction has a probability of at least {100 * UNSURE:.0f} %."
    else:
        best, second = (one.classes[k] for k in _pair(one.predictions[unsure]))
        text = (
            f"It is unsure about {unsure.sum():,} of {len(one):,} (probability below {100 * UNSURE:.0f} %), mostly "
            f"between {best} and {second}."
        )
    return text + _confused(one)


def _pair(probabilities: np.ndarray) -> tuple[int, int]:
    """The two classes that most often are the two most probable ones."""
    best = np.sort(np.argsort(-probabilities, axis=1, kind="stable")[:, :2], axis=1)
    ((first, second), _), *_ = Counter(map(tuple, best.tolist())).most_common(1)
    return first, second


def _confused(one: Unseen) -> str:
    """The most frequent mistake, if it happened more than once."""
    wrong = one.confusion - np.diag(np.diag(one.confusion))
    label, predicted = np.unravel_index(wrong.argmax(), wrong.shape)
    if wrong[label, predicted] < 2:
        return ""
    return (
        f" Its most frequent mistake is {one.classes[predicted]} for {one.classes[label]} "
        f"({wrong[label, predicted]:,} of {one.confusion[label].sum():,})."
    )


def _source(one: Unseen) -> str:
    if one.folds:
        return (
            f"Measured on {len(one):,} labels by cross-fitting ({one.folds} folds): each was predicted by models that "
            "were not trained on it. The final model is trained on all of them."
        )
    return f"Measured on {len(one):,} held-out labels, which the model was not trained on."
