"""Conformal prediction: sets of classes and intervals that cover the truth with a chosen probability.

The predictions of labeled items by models that were not trained on their labels (:class:`OutOfFold`) say how far
predictions are from the truth. With n such items, sorted scores s_(1) <= ... <= s_(n) and level l the threshold is

    q = s_(k),    k = ceil((n + 1) l),    and infinity if k > n,

and every value whose score is at most q is predicted. If a new item and the labeled ones are exchangeable, the truth
is covered with probability l to l + 1 / (n + 1), up to ties (Vovk et al. 2005; Barber et al. 2021 for cross-fitting).
Models that were trained on all labels are slightly better than those of the folds, so coverage is slightly higher.
"""

from __future__ import annotations

import math

import numpy as np

from unknot.errors import SpecError
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.out_of_fold import OutOfFold


def class_scores(probabilities: np.ndarray) -> np.ndarray:
    """Return how unlikely each class is: 1 - p, and 0 for the most probable one, ``(N, K)``.

    Because the most probable class has the lowest score that there is, no set is empty, and the threshold accounts for
    it. Sets of the classes with the largest probabilities are the smallest of equal coverage (Sadinle et al. 2019).

    >>> class_scores(np.array([[0.7, 0.2, 0.1]])).round(3).tolist()
    [[0.0, 0.8, 0.9]]
    """
    scores = 1.0 - probabilities
    scores[np.arange(len(scores)), probabilities.argmax(1)] = 0.0
    return scores


def prediction_sets(
    out_of_fold: OutOfFold, predictions: np.ndarray, level: float = 0.9, allow_empty: bool = False
) -> np.ndarray:
    """Return which classes each prediction set holds, bool ``(N, K)``.

    Parameters
    ----------
    out_of_fold : OutOfFold
        Predictions of labeled items.
    predictions : ndarray, shape (N, K), or (N, 1) for a probability of yes
        Probabilities of new items.
    level : float, default=0.9
        The probability that the set holds the true class.
    allow_empty : bool, default=False
        Use 1 - p as the score of all classes. Where single classes are right more often than ``level``, sets are then
        empty for the items that fit no class well, and coverage is ``level``; otherwise it is the share of right
        classes.

    Returns
    -------
    ndarray
        Rows of NaN have empty sets.
    """
    _check_level(level)
    known, new = (
        class_probabilities(one.astype(np.float64)) for one in (out_of_fold.predictions, predictions)
    )
    scores, new_scores = (1 - known, 1 - new) if allow_empty else (class_scores(known), class_scores(new))
    of_labels = scores[np.arange(len(scores)), out_of_fold.labels]
    return np.asarray((new_scores <= threshold(of_labels, level)) & ~np.isnan(new))


def prediction_intervals(out_of_fold: OutOfFold, means: np.ndarray, level: float = 0.9) -> np.ndarray:
    """Return the intervals ``mean ± q``, where q is the conformal threshold of the absolute residuals.

    Parameters
    ----------
    out_of_fold : OutOfFold
        Predictions of labeled items.
    means : ndarray, shape (N, D)
        Means of new items.
    level : float, default=0.9
        The probability that an interval covers the truth, for each of the D numbers on its own.

    Returns
    -------
    ndarray, shape (N, D, 2)
        Lower and upper ends; infinite if there are too few labels for the level.
    """
    _check_level(level)
    labels = out_of_fold.labels.reshape(len(out_of_fold), -1).astype(np.float64)
    residuals = np.abs(labels - out_of_fold.predictions.reshape(labels.shape))
    reach = np.array([threshold(column, level) for column in residuals.T])  # (D,)
    return np.stack([means - reach, means + reach], -1)


def threshold(scores: np.ndarray, level: float) -> float:
    """Return the conformal threshold of the scores of labeled items.

    >>> threshold(np.arange(1.0, 20.0), 0.9), threshold(np.arange(1.0, 9.0), 0.9)
    (18.0, inf)
    """
    k = math.ceil((len(scores) + 1) * level - 1e-9)  # a rounding error of the product is not the next integer
    return float(np.sort(scores)[k - 1]) if k <= len(scores) else math.inf


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise SpecError(f"a prediction set or interval has a level between 0 and 1, but got {level:g}.")
