"""The importance of columns, item by item and draw by draw, in Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

Predict = Callable[[np.ndarray], np.ndarray]  # rows (N, C) to probabilities (N, K) or means (N, D)


def importance(
    predict: Predict, x: np.ndarray, draws: Sequence[np.ndarray], column: int, classes: bool
) -> tuple[list[float], list[float]]:
    """Return for each item the mean loss and the mean contribution of a column.

    Parameters
    ----------
    predict : callable
        The predictions of rows.
    x : ndarray, shape (N, C)
        The items.
    draws : sequence of ndarray, shape (N,)
        What stands in place of the column, draw by draw.
    column : int
        The column.
    classes : bool
        Whether predictions are probabilities.
    """
    losses, gains = [], []
    for i in range(len(x)):
        before, loss, gain = predict(x[i : i + 1])[0], 0.0, 0.0
        for draw in draws:
            row = x[i : i + 1].copy()
            row[0, column] = draw[i]
            after = predict(row)[0]
            if classes:
                loss += sum(p * (math.log(p) - math.log(q)) for p, q in zip(before, after, strict=True))
                best = max(range(len(before)), key=lambda k: before[k])
                gain += before[best] - after[best]
            else:
                loss += sum((p - q) ** 2 for p, q in zip(before, after, strict=True))
                gain += before[0] - after[0]
        losses.append(loss / len(draws))
        gains.append(gain / len(draws))
    return losses, gains
