"""Verdict: what went wrong in training, each finding one sentence with its numbers and what to do about it."""

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
from unknot.workflow.trained_labels import why_no_error
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import Comparison, compare

_REACH = 2.58  # standard errors: one comparison in 200 is called worse by chance
_WORTH = 0.02  # a difference worth reporting, as a share of the loss of a constant prediction
_FAR = 0.2  # as such a share: held-out items this much worse than training items
_NEAR_ZERO = 0.25  # the loss on training items, as a share of that on held-out ones

_LEAST = 4  # records that a line is fitted to; a curve needs twice as many
_LEVEL = 0.995  # one-sided: a settled curve is called improving once in 200 times
_LEAST_GAIN = 0.02  # of the whole improvement since the first record
_ENDED = 0.1  # a learning rate below this share of its largest value: the training was meant to end here


@dataclass(frozen=True)
class Finding:
    """Something that went wrong.

    Parameters
    ----------
    kind : {"collapsed", "improving", "overfitting", "below linear"}
        What went wrong.
    text : str
        One sentence with the numbers, and one with what to do.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """What stands out, and what was examined.

    Parameters
    ----------
    findings : tuple of Finding
        What went wrong.
    examined : tuple of str
        What was examined, in words.
    no_error : str
        Why the error of some factors is not known; empty if it is.
    """

    findings: tuple[Finding, ...]
    examined: tuple[str, ...]
    no_error: str = ""

    @property
    def lines(self) -> list[str]:
        """The verdict, one finding per line."""
        lines = [finding.text for finding in self.findings]
        if not lines:
            lines = [
                f"Nothing stands out. Examined: {'; '.join(self.examined) or 'nothing, there is no data'}."
            ]
        return [*lines, self.no_error] if self.no_error else lines

    @property
    def line(self) -> str:
        """The verdict in one line."""
        return " ".join(self.lines)


def verdict(
    model: TrainedModel,
    train: Dataset,
    held_out: Dataset | None,
    history: Sequence[Mapping[str, Any]],
    predictions: DatasetPrediction | None = None,
) -> Verdict:
    """Whether a model is badly trained.

    Parameters
    ----------
    model : TrainedModel
        The model.
    train : Dataset
        The training items, with the labels that training saw.
    held_out : Dataset or None
        Items with labels that the model was not trained on.
    history : sequence of mapping
        The logged records.
    predictions : DatasetPrediction or None
        The model's predictions for ``held_out``, if there are any yet.

    Returns
    -------
    Verdict
    """
    comparisons = compare(model, train, held_out, predictions)
    no_error = why_no_error(model, held_out, train)
    return judge(model, history, comparisons, style_information(model, train, len(train)), no_error)


def judge(
    model: TrainedModel,
    history: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Comparison],
    dimensions: Sequence[tuple[str, float]],
    no_error: str = "",
) -> Verdict:
    """The verdict from logged records, comparisons with baselines and the information of each dimension."""
    findings = [*collapsed(model, dimensions), *improving(history)]
    examined = ["the information in the style"] if dimensions else []
    examined += ["the end of the training curve"] if history else []
    for comparison in comparisons:
        findings += [*overfitting(comparison), *below_linear(comparison)]
        which = "held-out" if comparison.held_out else "training"
        examined.append(
            f"{comparison.factor} on {len(comparison.encoder):,} {which} labels beside a linear model"
        )
    return Verdict(tuple(findings), tuple(examined), no_error)


def warn_if_badly_trained(model: TrainedModel, train: Dataset, history: Sequence[Mapping[str, Any]]) -> None:
    """A :class:`~unknot.errors.TrainingWarning` for each finding, at the line that called our caller."""
    for finding in verdict(model, train, None, history).findings:
        warnings.warn(finding.text, TrainingWarning, stacklevel=3)


# ---- the findings -----------------------------------------------------------------------------------


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


def overfitting(comparison: Comparison) -> list[Finding]:
    """Predictions that are almost right on training labels and far worse on held-out items."""
    train, test = float(comparison.training.mean()), float(comparison.encoder.mean())
    error = np.sqrt(_variance(comparison.training) + _variance(comparison.encoder))
    gap, constant = test - train, float(comparison.constant.mean())
    if not comparison.held_out or gap < max(_FAR * constant, _REACH * error) or train > _NEAR_ZERO * test:
        return []
    total, text = comparison.measure.total, comparison.measure.text
    return [
        Finding(
            "overfitting",
            f"The model overfits the labels of {comparison.factor}: its {comparison.measure.name} is "
            f"{text(total(comparison.training))} on the labels it was trained on and "
            f"{text(total(comparison.encoder))} on {len(comparison.encoder):,} held-out items. Give more labels, stop "
            "earlier (train: patience), or choose a smaller model.",
        )
    ]


def below_linear(comparison: Comparison) -> list[Finding]:
    """Predictions that are worse than those of a linear model on the same labels, item by item.

    Without held-out labels the linear model is cross-fitted while the encoder is not. A worse encoder is then worse
    on any data, but none of the two numbers is an error on new items, so none is given.
    """
    worse = comparison.encoder - comparison.linear
    if worse.mean() <= max(_REACH * np.sqrt(_variance(worse)), _WORTH * comparison.constant.mean()):
        return []
    advice = "Train longer, give the labels more weight (alpha), or use the linear model."
    start = f"Predictions of {comparison.factor} are worse than those of a linear model"
    if not comparison.held_out:
        return [Finding("below linear", f"{start}, even on the labels the model was trained on. {advice}")]
    total, text = comparison.measure.total, comparison.measure.text
    return [
        Finding(
            "below linear",
            f"{start}: on {len(worse):,} held-out items the {comparison.measure.name} is "
            f"{text(total(comparison.encoder))}, and {text(total(comparison.linear))} for a linear model on "
            f"{same_labels(comparison)}. {advice}",
        )
    ]


def same_labels(comparison: Comparison) -> str:
    """The labels of the linear model in words: all of the training labels, or as many as it is fitted to."""
    if comparison.fitted == comparison.labels:
        return f"the same {comparison.labels:,} labels"
    return f"{comparison.fitted:,} of the {comparison.labels:,} labels"


def _variance(losses: np.ndarray) -> float:
    """The variance of the mean; infinite for one loss, of which it is unknown."""
    return float(losses.var(ddof=1) / len(losses)) if len(losses) > 1 else float("inf")


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
