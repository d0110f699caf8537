"""Verdict: everything that is looked at when a training has ended, and what stands out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unknot.data.dataset import Dataset
from unknot.errors import TrainingWarning
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.style_information import style_information
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import Comparison, compare
from unknot.workflow.verdict.findings import Finding, below_linear, by_heart, collapsed, improving


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
