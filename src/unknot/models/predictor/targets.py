"""Targets: the labels that predictors learn from, dealt into folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

FOLDS = 5


@dataclass(frozen=True)
class Targets:
    """The n labels of one factor, and the fold that hides each of them.

    Parameters
    ----------
    values : ndarray
        Class indices ``(n,)``, or numbers ``(n, D)``.
    outputs : int
        The number of classes K, or D.
    fold : ndarray of int, shape (n,)
        Which fold hides each label.
    folds : int
        The number of folds.
    """

    values: np.ndarray
    outputs: int
    fold: np.ndarray
    folds: int

    def __len__(self) -> int:
        return len(self.values)

    @property
    def classes(self) -> bool:
        """Whether labels are classes."""
        return self.values.ndim == 1

    def select(self, rows: Any) -> Targets:
        """Return the labels of the given rows, or of a mask."""
        return replace(self, values=self.values[rows], fold=self.fold[rows])

    def losses(self, predictions: np.ndarray) -> np.ndarray:
        """Return the log loss, or the squared error, of each prediction, ``(n,)``."""
        if not self.classes:
            return np.square(predictions - self.values).sum(1)
        return -np.log(np.clip(predictions[np.arange(len(self)), self.values], 1e-7, None))


def deal(values: np.ndarray, outputs: int, seed: int = 0) -> Targets:
    """Deal labels into five folds, or one per label if there are fewer; classes are spread evenly over the folds."""
    folds = min(FOLDS, len(values))
    order_by = torch.from_numpy(values if values.ndim == 1 else values.sum(1))
    return Targets(values, outputs, folds_of(order_by, folds, seed).numpy(), folds)


def folds_of(order_by: Tensor, folds: int, seed: int = 0) -> Tensor:
    """Return which fold hides each of n labels, ``(n,)``.

    Folds have equal parts, in which classes (or small and large numbers) are mixed alike, since neighbors in the order
    of ``order_by`` go to different folds.

    >>> folds_of(torch.tensor([0, 1, 0, 1, 0, 1]), 3).bincount()
    tensor([2, 2, 2])
    """
    generator = torch.Generator().manual_seed(seed)
    count = len(order_by)
    shuffled = torch.randperm(count, generator=generator)
    order = shuffled[order_by.cpu()[shuffled].argsort(stable=True)]
    first = int(torch.randint(folds, (), generator=generator))
    found = torch.empty(count, dtype=torch.int64)
    found[order] = (torch.arange(count) + first) % folds
    return found
