"""Whether a curve of training was still going down when it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_LEAST = 4  # records of the end that a line is laid through, of at least twice as many
_LEVEL = 0.995  # one-sided: a settled curve is called improving once in 200 times
_WORTH = 0.02  # of all that was gained since the first record
_ENDED = (
    0.1  # a learning rate below this share of its largest has run out: the training was meant to end here
)


@dataclass(frozen=True)
class Trend:
    """A line through the last quarter: what of, from which value to which, and over which steps."""

    name: str
    start: float
    end: float
    first_step: int
    last_step: int


def still_improving(records: Sequence[Mapping[str, Any]]) -> Trend | None:
    """The trend of the last quarter of the records, if it is beyond the noise and worth having; else None.

    Looked at is the validation score where there is one, else the loss. A straight line through the last quarter
    (four records at least) must fall at the level of 0.5 % by Student's test of its slope, and by 2 % of all that
    was gained since the first record. A learning rate that went down to nothing ends a training by intent.
    """
    name = "validation" if any("validation" in record for record in records) else "loss"
    sign = -1.0 if name == "validation" else 1.0  # a score is better when larger
    points = [(r["step"], r[name]) for r in records if isinstance(r.get(name), int | float)]
    if len(points) < 2 * _LEAST or _rate_has_run_out(records):
        return None
    steps, values = (np.array(column, dtype=np.float64) for column in zip(*points, strict=True))
    last = min(int(np.searchsorted(steps, 0.75 * steps[-1], side="right")), len(steps) - _LEAST)
    start, end, steepness = _line(steps[last:], sign * values[last:])
    gained = sign * values[0] - end
    if (
        not np.isfinite(values).all()
        or steepness > _critical(len(steps) - last)
        or start - end < _WORTH * gained
    ):
        return None
    return Trend(name, sign * start, sign * end, int(steps[last]), int(steps[-1]))


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Both ends of the least-squares line, and its slope in standard errors."""
    slope, offset = np.polyfit(x - x.mean(), y, 1)
    ends = offset + slope * (x[[0, -1]] - x.mean())
    rest = y - offset - slope * (x - x.mean())
    error = np.sqrt((rest**2).sum() / (len(x) - 2) / ((x - x.mean()) ** 2).sum())
    return float(ends[0]), float(ends[1]), float(slope / max(error, 1e-12 * abs(slope), 1e-300))


def _critical(points: int) -> float:
    """The slope in standard errors, below zero, that one settled curve in 200 has by chance."""
    from scipy.special import stdtrit

    return -float(stdtrit(points - 2, _LEVEL))


def _rate_has_run_out(records: Sequence[Mapping[str, Any]]) -> bool:
    rates = [record["learning_rate"] for record in records if "learning_rate" in record]
    return bool(rates) and rates[-1] < _ENDED * max(rates)
