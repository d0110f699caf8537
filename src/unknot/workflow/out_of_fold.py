"""OutOfFold: predictions for labeled items by models that were not trained on their labels, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unknot.metrics.prediction_error import (
    Reliability,
    confusion_matrix,
    independent_items,
    reliability,
    wilson_interval,
)


@dataclass(frozen=True)
class OutOfFold:
    """Cross-fitted predictions of one factor: every label is predicted by a model from which it was hidden.

    Parameters
    ----------
    factor : str
        The factor.
    ids : ndarray of int64, shape (n,)
        The ids of the labeled items in the training data.
    labels : ndarray, shape (n,) or (n, D)
        Class indices, or numbers.
    predictions : ndarray, shape (n, K) or (n, D)
        Class probabilities after stacking and calibration, both cross-fitted too, or means.
    linear : ndarray, shape (n, K) or (n, D)
        The same of a linear model on the usual features, whose penalty is chosen inside each fold.
    folds : int
        The number of folds.
    repeats : int
        How many times the labels were dealt into folds; predictions are averages over the repeats.
    """

    factor: str
    ids: np.ndarray
    labels: np.ndarray
    predictions: np.ndarray
    linear: np.ndarray
    folds: int
    repeats: int = 1

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def has_classes(self) -> bool:
        """Whether the labels are classes."""
        return self.labels.ndim == 1 and self.labels.dtype.kind in "iu"

    @cached_property
    def wrong(self) -> np.ndarray:
        """Whether each item is misclassified, bool ``(n,)``."""
        return self.predictions.argmax(1) != self.labels

    @property
    def error(self) -> float:
        """The share of wrong classes."""
        return float(self.wrong.mean())

    @property
    def linear_error(self) -> float:
        """The share of wrong classes of the linear model."""
        return float((self.linear.argmax(1) != self.labels).mean())

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return Wilson's interval of the error on new items, for as many items as are independent."""
        return wilson_interval(self.error, independent_items(len(self), self.folds), level)

    @property
    def log_loss(self) -> float:
        """The mean of -log p(label), in nats; probabilities are clipped at 1e-7."""
        return float(-np.log(np.clip(self.predictions[np.arange(len(self)), self.labels], 1e-7, None)).mean())

    @property
    def confusion(self) -> np.ndarray:
        """Counts by true and predicted class, ``(K, K)``."""
        return confusion_matrix(self.labels, self.predictions.argmax(1), self.predictions.shape[1])

    @property
    def calibration(self) -> Reliability:
        """Confidence against the share that is right, in ten bins."""
        return reliability(self.predictions.max(1), ~self.wrong)

    @property
    def confidence(self) -> float:
        """The mean probability of the predicted class."""
        return float(self.predictions.max(1).mean())
