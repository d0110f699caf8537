"""The one table of measures: how an encoder's answers are compared with labels, and how the number is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unknot.errors import SpecError
from unknot.metrics.classification import wilson_interval
from unknot.metrics.regression import angles, squared_errors

_REACH = 1.96  # standard errors on each side of a mean, for 95 %


@dataclass(frozen=True)
class Measure:
    """``losses(truth, summary)`` is what each known item adds, ``(n,)``; the number is their mean, or its root.

    Truth is ``(N,)`` or ``(N, D)`` with unknown entries marked, and what the encoder reports ``(N, K)`` or
    ``(N, D)``. ``share`` says that it is a share of items, shown in per cent.
    """

    name: str
    losses: Callable[[np.ndarray, np.ndarray], np.ndarray]
    share: bool = False
    root: bool = False

    def of(self, truth: np.ndarray, summary: np.ndarray) -> float:
        """The number for some items, of which at least one is known."""
        return self.total(self.losses(truth, summary))

    def total(self, losses: np.ndarray) -> float:
        """The number from the losses of items."""
        return float(np.sqrt(losses.mean())) if self.root else float(losses.mean())

    def interval(self, losses: np.ndarray) -> tuple[float, float] | None:
        """Where the number of all such items lies, with 95 %: Wilson's for a share, else by standard errors."""
        if self.share:
            return wilson_interval(float(losses.mean()), len(losses))
        if len(losses) < 2:
            return None
        reach = _REACH * float(losses.std(ddof=1)) / len(losses) ** 0.5
        ends = max(float(losses.mean()) - reach, 0.0), float(losses.mean()) + reach
        return (ends[0] ** 0.5, ends[1] ** 0.5) if self.root else ends

    def text(self, value: float, interval: tuple[float, float] | None = None) -> str:
        """The number as pages and tables show it, a share in per cent, and its interval behind it."""
        number = f"{100 * value:.2f} %" if self.share else f"{value:.4g}"
        return number if interval is None else f"{number} ({self.span(interval)})"

    def span(self, interval: tuple[float, float]) -> str:
        """An interval in words."""
        low, high = interval
        return f"{100 * low:.1f} to {100 * high:.1f} %" if self.share else f"{low:.4g} to {high:.4g}"


def class_probabilities(summary: np.ndarray) -> np.ndarray:
    """Probabilities ``(N, K)`` from what an encoder reports; a yes-or-no node reports that of yes alone."""
    return np.concatenate([1 - summary, summary], 1) if summary.shape[1] == 1 else summary


def _wrong(truth: np.ndarray, summary: np.ndarray) -> np.ndarray:
    known = truth >= 0
    if not known.any():
        raise SpecError(f"error: expected items whose class is known, but none of the {len(truth)} is")
    return (class_probabilities(summary).argmax(-1)[known] != truth[known]).astype(np.float64)


def _squares(truth: np.ndarray, summary: np.ndarray) -> np.ndarray:
    return squared_errors(truth.reshape(len(truth), -1), summary)


MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        Measure("error", _wrong, share=True),
        Measure("root mean square error", _squares, root=True),
        Measure("mean angle (degrees)", angles),
    )
}
