"""Conformal sets and intervals: coverage on exchangeable data, and the cases at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.statistics import standard_errors
from unknot.errors import SpecError
from unknot.workflow.conformal import class_scores, prediction_intervals, prediction_sets, threshold
from unknot.workflow.out_of_fold import OutOfFold

DRAWS, NEW = 300, 200


def made_up(rng: np.random.Generator, count: int, sharpness: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of four classes that are overconfident, and labels: exchangeable, whatever the model."""
    logits = sharpness * rng.standard_normal((count, 4))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(1)
    shown = np.exp(2 * logits)
    return shown / shown.sum(1, keepdims=True), labels


def out_of_fold(predictions: np.ndarray, labels: np.ndarray) -> OutOfFold:
    return OutOfFold("kind", np.arange(len(labels)), labels, predictions, predictions, folds=5)


def slow_sets(known: np.ndarray, labels: np.ndarray, new: np.ndarray, level: float) -> np.ndarray:
    """The definition, a class and an item at a time."""

    def score(p: np.ndarray, k: int) -> float:
        return 0.0 if k == max(range(len(p)), key=lambda j: (p[j], -j)) else 1 - p[k]

    scores = sorted(score(p, y) for p, y in zip(known, labels, strict=True))
    k = math.ceil((len(labels) + 1) * level)
    limit = scores[k - 1] if k <= len(scores) else math.inf
    return np.array([[score(p, j) <= limit for j in range(len(p))] for p in new])


def test_sets_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    known, labels = made_up(rng, 30, 1.0)
    new, _ = made_up(rng, 50, 1.0)
    for level in (0.55, 0.8, 0.95, 0.99):
        sets = prediction_sets(out_of_fold(known, labels), new, level)
        assert (sets == slow_sets(known, labels, new, level)).all()
        assert sets.any(1).all(), "no set is empty"


@pytest.mark.parametrize("count", [25, 100, 400])
@pytest.mark.parametrize("allow_empty", [False, True])
def test_sets_cover_with_the_chosen_probability(count: int, allow_empty: bool) -> None:
    """Mean coverage over draws is l to l + 1/(n+1), where only scores of 0 have ties (rate 5.7e-7)."""
    rng, level, covered = np.random.default_rng(count), 0.9, []
    for _ in range(DRAWS):
        known, labels = made_up(rng, count, 1.5)
        new, truth = made_up(rng, NEW, 1.5)
        sets = prediction_sets(out_of_fold(known, labels), new, level, allow_empty)
        covered.append(sets[np.arange(NEW), truth].mean())
    reach = standard_errors(2) * np.std(covered) / DRAWS**0.5
    assert level - reach <= np.mean(covered) <= level + 1 / (count + 1) + reach


def test_a_model_that_is_right_more_often_than_the_level_names_one_class_each() -> None:
    known, labels = made_up(np.random.default_rng(1), 200, 30.0)
    sets = prediction_sets(out_of_fold(known, labels), known, 0.8)
    assert (sets.sum(1) == 1).all()
    assert not prediction_sets(out_of_fold(known, labels), known, 0.8, allow_empty=True).any(1).all()


@pytest.mark.parametrize("width", [1, 3])
def test_intervals_cover_each_number_with_the_chosen_probability(width: int) -> None:
    rng, level, covered = np.random.default_rng(width), 0.9, []
    for _ in range(DRAWS):
        means, noise = rng.standard_normal((100 + NEW, width)), rng.standard_cauchy((100 + NEW, width))
        labels = means + noise
        ends = prediction_intervals(out_of_fold(means[:100], labels[:100]), means[100:], level)
        covered.append(((ends[..., 0] <= labels[100:]) & (labels[100:] <= ends[..., 1])).mean(0))
    reach = standard_errors(2 * width) * np.std(covered, 0) / DRAWS**0.5
    assert (np.mean(covered, 0) >= level - reach).all()
    assert (np.mean(covered, 0) <= level + 1 / 101 + reach).all()


def test_few_labels_give_all_classes_and_infinite_intervals() -> None:
    known, labels = made_up(np.random.default_rng(2), 8, 1.0)
    assert prediction_sets(out_of_fold(known, labels), known, 0.9).all()
    numbers = np.arange(8.0)[:, None]
    ends = prediction_intervals(out_of_fold(numbers, numbers[:, 0]), numbers, 0.9)
    assert np.isinf(ends).all()
    assert threshold(np.arange(9.0), 0.9) == 8.0


def test_probabilities_of_yes_are_two_classes() -> None:
    yes = np.array([[0.9], [0.2], [0.6], [0.4]])
    labels = np.array([1, 0, 1, 0])
    sets = prediction_sets(out_of_fold(yes, labels), np.array([[0.7], [0.1]]), 0.5)
    assert sets.tolist() == [[False, True], [True, False]]


def test_items_without_prediction_have_an_empty_set() -> None:
    known, labels = made_up(np.random.default_rng(3), 30, 1.0)
    new = np.array([[np.nan] * 4, [0.7, 0.1, 0.1, 0.1]])
    assert prediction_sets(out_of_fold(known, labels), new, 0.99).sum(1).tolist()[0] == 0


def test_the_most_probable_class_comes_first_also_in_ties() -> None:
    assert class_scores(np.array([[0.5, 0.5]])).tolist() == [[0.0, 0.5]]


def test_levels_are_between_zero_and_one() -> None:
    known, labels = made_up(np.random.default_rng(4), 10, 1.0)
    with pytest.raises(SpecError, match="level between 0 and 1, but got 90"):
        prediction_sets(out_of_fold(known, labels), known, 90)
