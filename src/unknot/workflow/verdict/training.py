"""Findings about the training itself: a collapsed style, a curve that was still going down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.models.families import family_of
from unknot.objectives.diagnostics import UNUSED_BELOW
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.finding import Finding

_LEAST = 4  # records that a line is fitted to; a curve needs twice as many
_LEVEL = 0.995  # one-sided: a settled curve is called improving once in 200 times
_LEAST_GAIN = 0.02  # of the whole improvement since the first record
_ENDED = 0.1  # a learning rate below this share of its largest value: the training was meant to end here


def collapsed(model: TrainedModel, dimensions: Sequence[tuple[str, float]]) -> list[Finding]:
    """Gaussian nodes without labels of which no dimension has information about the data.

    Parameters
    ----------
    model : TrainedModel
        The model.
    dimensions : sequence of (str, float)
        The result of :func:`~unknot.workflow.codes.style_information`: dimensions and their nats.
    """
    findings = []
    for node in model.latents:
        nats = [n for name, n in dimensions if name.rpartition("[")[0] == node.name]
        if node.labels or not family_of(node).gaussian or not nats or max(nats) >= UNUSED_BELOW:
            continue
        lost, weight = "so everything but the factors is lost", f"beta: {{{node.name}: 0.5}}"
        if not model.labeled:  # its objective has one weight for all nodes
            lost, weight = "so the model keeps nothing of an item", "{name: elbo, beta: 0.5}"
        text = (
            f"{node.name} has collapsed: none of its {len(nats)} dimensions has {UNUSED_BELOW:g} nats of information "
            f"about the data, {lost}. Give its KL divergence a smaller weight (objective: {weight})."
        )
        findings.append(Finding("collapsed", text))
    return findings


def improving(history: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """A curve that was still going down at the end, beyond its noise."""
    trend = still_improving(history)
    if trend is None:
        return []
    return [
        Finding(
            "improving",
            f"Training was still improving: from step {trend.first_step:,} to the last, {trend.last_step:,}, the "
            f"{trend.name} went from {trend.start:.4g} to {trend.end:.4g}. "
            f"Train longer (steps: {2 * trend.last_step}).",
        )
    ]


# ---- the end of the training curve ------------------------------------------------------------------


@dataclass(frozen=True)
class Trend:
    """A line through the last quarter of a curve: its name, its values and its steps at both ends."""

    name: str
    start: float
    end: float
    first_step: int
    last_step: int


def still_improving(records: Sequence[Mapping[str, Any]]) -> Trend | None:
    """The trend of the last quarter of the records if it is beyond the noise and large enough, else None.

    The curve is the validation score where there is one, else the loss. The least-squares line through the last
    quarter (at least four records) must fall at the level of 0.5 % by Student's t-test of its slope, and by at least
    2 % of the whole improvement since the first record. A learning rate that has decayed means that the training was
    meant to end.
    """
    name = "validation" if any("validation" in record for record in records) else "loss"
    sign = -1.0 if name == "validation" else 1.0  # a score is better when larger
    points = [(r["step"], r[name]) for r in records if isinstance(r.get(name), int | float)]
    if len(points) < 2 * _LEAST or _rate_has_decayed(records):
        return None
    steps, values = (np.array(column, dtype=np.float64) for column in zip(*points, strict=True))
    last = min(int(np.searchsorted(steps, 0.75 * steps[-1], side="right")), len(steps) - _LEAST)
    start, end, slope = _line(steps[last:], sign * values[last:])
    gained = sign * values[0] - end
    if (
        not np.isfinite(values).all()
        or slope > _critical(len(steps) - last)
        or start - end < _LEAST_GAIN * gained
    ):
        return None
    return Trend(name, sign * start, sign * end, int(steps[last]), int(steps[-1]))


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Both ends of the least-squares line, and its slope in standard errors."""
    slope, offset = np.polyfit(x - x.mean(), y, 1)
    ends = offset + slope * (x[[0, -1]] - x.mean())
    residuals = y - offset - slope * (x - x.mean())
    error = np.sqrt((residuals**2).sum() / (len(x) - 2) / ((x - x.mean()) ** 2).sum())
    return float(ends[0]), float(ends[1]), float(slope / max(error, 1e-12 * abs(slope), 1e-300))


def _critical(points: int) -> float:
    """The negative slope, in standard errors, that a settled curve has once in 200 times by chance."""
    from scipy.special import stdtrit

    return -float(stdtrit(points - 2, _LEVEL))


def _rate_has_decayed(records: Sequence[Mapping[str, Any]]) -> bool:
    rates = [record["learning_rate"] for record in records if "learning_rate" in record]
    return bool(rates) and rates[-1] < _ENDED * max(rates)
