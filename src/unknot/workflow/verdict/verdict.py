"""Verdict: everything that is looked at when a training has ended, and what stands out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.data.dataset import Dataset
from unknot.errors import TrainingWarning
from unknot.models.families import family_of
from unknot.objectives.diagnostics import UNUSED_BELOW
from unknot.workflow.codes import style_information
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import Comparison, compare

# The findings: each a thing that went wrong in training, in one plain sentence with numbers and what to do.

# ---- Whether a curve of training was still going down when it ended --------------------------------------

_LEAST = 4  # records of the end that a line is laid through, of at least twice as many
_LEVEL = 0.995  # one-sided: a settled curve is called improving once in 200 times
_LEAST_GAIN = 0.02  # of all that was gained since the first record
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
        or start - end < _LEAST_GAIN * gained
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


_REACH = 2.58  # standard errors: one comparison in 200 is called worse by chance
_WORTH = 0.02  # a difference that is worth a word, as a share of what one loses who never looks
_FAR = 0.2  # as such a share: held-out items this much worse than seen ones
_NEAR_ZERO = 0.25  # the loss on seen items, as a share of that on held-out ones


@dataclass(frozen=True)
class Finding:
    """``kind`` is one of "collapsed", "improving", "by heart" and "below linear"; ``text`` the sentence."""

    kind: str
    text: str


def collapsed(model: TrainedModel, dimensions: Sequence[tuple[str, float]]) -> list[Finding]:
    """Gaussian nodes without labels of which no dimension holds anything of the data.

    ``dimensions`` are those of :func:`~unknot.workflow.codes.style_information`, with their nats.
    """
    found = []
    for node in model.latents:
        nats = [n for name, n in dimensions if name.rpartition("[")[0] == node.name]
        if node.labels or not family_of(node).gaussian or not nats or max(nats) >= UNUSED_BELOW:
            continue
        lost, weight = "so that what the factors do not say is lost", f"beta: {{{node.name}: 0.5}}"
        if not model.labeled:  # its objective has one weight for all nodes
            lost, weight = "so that nothing of them is kept", "{name: elbo, beta: 0.5}"
        text = (
            f"{node.name} has collapsed: none of its {len(nats)} dimensions holds {UNUSED_BELOW:g} nats of the data, "
            f"{lost}. Weigh its divergence less (objective: {weight})."
        )
        found.append(Finding("collapsed", text))
    return found


def improving(history: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """A curve that was still going down, beyond its noise."""
    trend = still_improving(history)
    if trend is None:
        return []
    return [
        Finding(
            "improving",
            f"It was still improving: from step {trend.first_step:,} to the last, {trend.last_step:,}, the "
            f"{trend.name} went from {trend.start:.4g} to {trend.end:.4g}. "
            f"Train longer (steps: {2 * trend.last_step}).",
        )
    ]


def by_heart(one: Comparison) -> list[Finding]:
    """Labels that were learned by heart: hardly wrong where they were seen, far worse on held-out items."""
    seen, held = float(one.seen.mean()), float(one.encoder.mean())
    error = np.sqrt(_variance(one.seen) + _variance(one.encoder))
    gap, chance = held - seen, float(one.constant.mean())
    if not one.held_out or gap < max(_FAR * chance, _REACH * error) or seen > _NEAR_ZERO * held:
        return []
    total, text = one.measure.total, one.measure.text
    return [
        Finding(
            "by heart",
            f"{one.factor} is learned by heart: its {one.measure.name} is {text(total(one.seen))} on the labels it "
            f"saw, and {text(total(one.encoder))} on {len(one.encoder):,} others. Show more labels, stop "
            "earlier (train: patience), or take a smaller model.",
        )
    ]


def below_linear(one: Comparison) -> list[Finding]:
    """An encoder that a linear model on the same labels beats, item by item."""
    worse = one.encoder - one.linear
    if worse.mean() <= max(_REACH * np.sqrt(_variance(worse)), _WORTH * one.constant.mean()):
        return []
    total, text = one.measure.total, one.measure.text
    where = f"on {len(worse):,} held-out items" if one.held_out else "even on the labels it was trained on"
    return [
        Finding(
            "below linear",
            f"{one.factor} is read worse than by a linear model: its {one.measure.name} is "
            f"{text(total(one.encoder))} {where}, that of a linear model on {one.same_labels} "
            f"{text(total(one.linear))}. Train longer, weigh the labels more (alpha), or take the linear model.",
        )
    ]


def _variance(losses: np.ndarray) -> float:
    """Of the mean; that of one loss is unknown."""
    return float(losses.var(ddof=1) / len(losses)) if len(losses) > 1 else float("inf")


@dataclass(frozen=True)
class Verdict:
    """What stands out, and what was looked at, in words."""

    findings: tuple[Finding, ...]
    looked_at: tuple[str, ...]

    @property
    def line(self) -> str:
        """The verdict in one line."""
        if self.findings:
            return " ".join(finding.text for finding in self.findings)
        return f"Nothing stands out. Looked at: {'; '.join(self.looked_at) or 'nothing, for want of data'}."


def judge(
    model: TrainedModel,
    history: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Comparison],
    dimensions: Sequence[tuple[str, float]],
) -> Verdict:
    """The verdict from what was measured: logged records, comparisons and the information of dimensions."""
    found = [*collapsed(model, dimensions), *improving(history)]
    looked_at = ["the information in the style"] if dimensions else []
    looked_at += ["the end of the training curve"] if history else []
    for one in comparisons:
        found += [*by_heart(one), *below_linear(one)]
        where = "held-out" if one.held_out else "seen"
        looked_at.append(f"{one.factor} on {len(one.encoder):,} {where} labels beside a linear model")
    return Verdict(tuple(found), tuple(looked_at))


def verdict(
    model: TrainedModel,
    seen: Dataset,
    held_out: Dataset | None,
    history: Sequence[Mapping[str, Any]],
    answers: DatasetPrediction | None = None,
) -> Verdict:
    """Whether a model is badly trained.

    - ``seen``: the training items, with the labels that could be seen.
    - ``held_out``: other items with labels, if there are; ``answers``: what the encoder says of them, if at hand.
    - ``history``: what was logged.
    """
    beside = compare(model, seen, held_out, answers)
    return judge(model, history, beside, style_information(model, seen, len(seen)))


def warn_if_badly_trained(model: TrainedModel, seen: Dataset, history: Sequence[Mapping[str, Any]]) -> None:
    """A :class:`~unknot.errors.TrainingWarning` for each finding, at the line that called our caller."""
    for finding in verdict(model, seen, None, history).findings:
        warnings.warn(finding.text, TrainingWarning, stacklevel=3)
