"""The answer in plain sentences."""

from __future__ import annotations

import numpy as np

from tests.workflow.verdict.made import out_of_fold
from unknot.report.answer import answers
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.verdict.comparison import Comparison
from unknot.workflow.verdict.unseen import Unseen

FOLD = out_of_fold(np.arange(100) % 2, right=0.74, linear=0.72)
CLASSES = Unseen(
    "kind", MEASURES["error"], ("oil", "tempera"), np.arange(100), FOLD.labels, FOLD.predictions, 5
)


def beside(one: Unseen, linear: np.ndarray, constant: np.ndarray, of: str = "out-of-fold") -> Comparison:
    return Comparison(one.factor, one.measure, one.losses, linear, constant, np.zeros(0), 1, 1, of)  # type: ignore[arg-type]


def test_classes() -> None:
    wrong = (FOLD.linear.argmax(1) != FOLD.labels).astype(float)
    (answer,) = answers([CLASSES], [beside(CLASSES, wrong, FOLD.labels.astype(float))])
    assert answer.headline == (
        "On labels it had not seen, it is right in 74 of 100 (95 % interval 60 to 85); a linear model in 72, always "
        "the most frequent class in 50."
    )
    assert answer.doubts.startswith(
        "It is unsure about none of them: every prediction has a probability of at least"
    )
    assert "Its most frequent mistake is " in answer.doubts
    assert answer.source == (
        "Measured on 100 labels by cross-fitting (5 folds): each was predicted by models that were not trained on it. "
        "The final model is trained on all of them."
    )


def test_the_classes_it_is_unsure_between() -> None:
    shares = np.array([[0.9, 0.05, 0.05]] * 6 + [[0.1, 0.5, 0.4]] * 3 + [[0.5, 0.4, 0.1]])
    one = Unseen("kind", MEASURES["error"], ("a", "b", "c"), np.arange(10), np.zeros(10, int), shares)
    (answer,) = answers([one], [])
    assert answer.doubts == (
        "It is unsure about 4 of 10 (probability below 60 %), mostly between b and c. Its most frequent mistake is b "
        "for a (3 of 10)."
    )
    assert "linear" not in answer.headline
    assert answer.source == "Measured on 10 held-out labels, which the model was not trained on."


def test_baselines_on_other_labels_are_not_beside() -> None:
    wrong = np.zeros(100)
    (answer,) = answers([CLASSES], [beside(CLASSES, wrong, wrong, "held-out")])
    assert "linear" not in answer.headline


def test_numbers() -> None:
    truth = np.linspace(0, 10, 50)[:, None]
    one = Unseen("size", MEASURES["root mean square error"], (), np.arange(50), truth, truth + 2.0, 5)
    (answer,) = answers([one], [beside(one, np.full(50, 9.0), np.full(50, 16.0))])
    assert answer.headline == (
        "On labels it had not seen, it is off by 2 (root mean square error; 95 % interval 2 to 2); a linear "
        "model by 3, always the mean by 4."
    )
    assert answer.doubts == ""


def test_many_labels_have_a_decimal() -> None:
    fold = out_of_fold(np.arange(2000) % 2, right=0.9785, linear=0.9)
    one = Unseen("kind", MEASURES["error"], ("a", "b"), np.arange(2000), fold.labels, fold.predictions)
    assert "right in 97.9 of 100 (95 % interval 97.1 to 98.4)" in answers([one], [])[0].headline
