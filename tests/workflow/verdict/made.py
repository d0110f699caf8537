"""Out-of-fold predictions made by hand."""

from __future__ import annotations

import numpy as np

from unknot.workflow.out_of_fold import OutOfFold


def fold_of(labels: np.ndarray, predictions: np.ndarray, linear: np.ndarray | None = None) -> OutOfFold:
    """Predictions for items 0, 1, ..., in five folds; those of the linear model are the same by default."""
    linear = predictions if linear is None else linear
    return OutOfFold("kind", np.arange(len(labels)), labels, predictions, linear, folds=5)


def out_of_fold(
    labels: np.ndarray, right: float, linear: float, confidence: float | None = None
) -> OutOfFold:
    """Two classes, of which shares are right, evenly spread; calibrated unless there is a confidence."""
    sure = right if confidence is None else confidence
    return fold_of(labels, _two_classes(labels, right, sure), _two_classes(labels, linear, linear))


def _two_classes(labels: np.ndarray, right: float, confidence: float) -> np.ndarray:
    count = len(labels)
    are_right = np.arange(count) * 7919 % count < round(right * count)
    predicted = np.where(are_right, labels, 1 - labels)
    return np.where(np.arange(2) == predicted[:, None], confidence, 1 - confidence)
