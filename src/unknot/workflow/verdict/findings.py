"""The findings: each a thing that went wrong in training, in one plain sentence with numbers and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.models.families import family_of
from unknot.objectives.diagnostics import UNUSED_BELOW
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import Comparison
from unknot.workflow.verdict.trend import still_improving

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

    ``dimensions`` are those of :func:`~unknot.workflow.style_information.style_information`, with their nats.
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
