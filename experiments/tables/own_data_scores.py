"""Splits of a table into labeled, unlabeled and test rows, and how answers are scored."""

from __future__ import annotations

import numpy as np

from experiments.ledger.experiment import Numbers
from unknot.metrics.prediction_error import reliability

TEST_SHARE, MOST_TEST = 0.3, 1000


def split(
    y: np.ndarray, classes: int, labels: int, seed: int, balanced: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labeled, unlabeled and test rows, by a seed.

    Labels come as they come, but for at least two of every class; ``balanced`` takes equally many of each, as far as
    there are.
    """
    draw = np.random.default_rng([seed, labels])
    order = draw.permutation(len(y))
    test = order[: min(int(TEST_SHARE * len(y)), MOST_TEST)]
    train = order[len(test) :]
    place = np.arange(len(train))
    if classes:
        turn = np.empty(len(train), int)  # how many of its class came before
        for k in range(classes):
            mine = y[train] == k
            turn[mine] = np.arange(mine.sum())
        first = turn if balanced else np.where(turn < 2, -1, 0)
        place = np.lexsort((place, first))
    chosen = np.zeros(len(train), bool)
    chosen[place[:labels]] = True
    return train[chosen], train[~chosen], test


def class_scores(probabilities: np.ndarray, y: np.ndarray) -> Numbers:
    """Accuracy in per cent, log loss in nats, and the expected calibration error in ten bins."""
    sure, right = probabilities.max(1), probabilities.argmax(1) == y
    return {
        "accuracy": 100 * float(right.mean()),
        "log_loss": float(-np.log(np.clip(probabilities[np.arange(len(y)), y], 1e-7, None)).mean()),
        "calibration": reliability(sure, right).error,
    }


def number_scores(guess: np.ndarray, y: np.ndarray) -> Numbers:
    """R², the share of the variance that is explained, in per cent."""
    return {"accuracy": 100 * float(1 - ((guess - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())}
