"""The one table of measures: how a recogniser's answers are compared with labels, and how the number is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unknot.metrics.classification import error_rate, standard_error
from unknot.metrics.regression import mean_angle, root_mean_square_error


@dataclass(frozen=True)
class Measure:
    """``of(truth, summary)`` is the number: truth ``(N,)`` or ``(N, D)`` with unknown entries marked, and what the
    recogniser reports, ``(N, K)`` or ``(N, D)``. ``share`` says that it is a share of items, shown in per cent."""

    name: str
    of: Callable[[np.ndarray, np.ndarray], float]
    share: bool = False

    def spread(self, value: float, items: int) -> float | None:
        """The standard error of a share of so many items."""
        return standard_error(value, items) if self.share else None

    def text(self, value: float, spread: float | None = None) -> str:
        """The number as pages and tables show it, a share in per cent with its standard error."""
        if not self.share:
            return f"{value:.4g}"
        return f"{100 * value:.2f} %" if spread is None else f"{100 * value:.2f} ± {100 * spread:.2f} %"


def class_probabilities(summary: np.ndarray) -> np.ndarray:
    """Probabilities ``(N, K)`` from what a recogniser reports; a yes-or-no node reports that of yes alone."""
    return np.concatenate([1 - summary, summary], 1) if summary.shape[1] == 1 else summary


def _error(truth: np.ndarray, summary: np.ndarray) -> float:
    return error_rate(truth, class_probabilities(summary).argmax(-1))


def _distance(truth: np.ndarray, summary: np.ndarray) -> float:
    return root_mean_square_error(truth.reshape(len(truth), -1), summary)


MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        Measure("error", _error, share=True),
        Measure("root mean square error", _distance),
        Measure("mean angle (degrees)", mean_angle),
    )
}
