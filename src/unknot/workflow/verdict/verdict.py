"""Verdict: what went wrong, each finding one sentence with its numbers and what to do about it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from unknot.data.dataset import Dataset
from unknot.errors import TrainingWarning
from unknot.workflow.codes import style_information
from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.evaluation import DatasetPrediction, predict_dataset
from unknot.workflow.trained_labels import why_no_error, without_labels
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import Comparison, compare
from unknot.workflow.verdict.finding import Finding
from unknot.workflow.verdict.predictions import (
    below_linear,
    class_shares,
    few_labels,
    overconfident,
    overfitting,
    unchanged,
)
from unknot.workflow.verdict.training import collapsed, improving
from unknot.workflow.verdict.unseen import Unseen, unseen_labels


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
    unseen : tuple of Unseen
        The labels that the model was not trained on, with its predictions.
    comparisons : tuple of Comparison
        Losses beside those of baselines.
    """

    findings: tuple[Finding, ...]
    examined: tuple[str, ...]
    no_error: str = ""
    unseen: tuple[Unseen, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    @property
    def color(self) -> Literal["red", "amber", "green", "gray"]:
        """The gravest finding; green without one only if an error on unseen labels is known, else gray."""
        if self.findings:
            return "red" if any(finding.gravity == "red" for finding in self.findings) else "amber"
        return "green" if self.unseen and not self.no_error else "gray"

    @property
    def lines(self) -> list[str]:
        """The verdict, one finding per line, the gravest first."""
        lines = [finding.text for finding in self.ordered] or [self.nothing]
        return [*lines, self.no_error] if self.no_error else lines

    @property
    def nothing(self) -> str:
        """What is said without findings."""
        return f"Nothing stands out. Examined: {'; '.join(self.examined) or 'nothing, there is no data'}."

    @property
    def ordered(self) -> list[Finding]:
        """The findings, the gravest first."""
        return sorted(self.findings, key=lambda finding: finding.gravity != "red")

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
    """Whether a model is badly trained, or its predictions not to be relied on.

    Parameters
    ----------
    model : TrainedModel
        The model.
    train : Dataset
        The training items, with the labels that training saw.
    held_out : Dataset or None
        Items with labels that the model was not trained on. Without them the out-of-fold predictions of the model are
        examined, if it has any.
    history : sequence of mapping
        The logged records.
    predictions : DatasetPrediction or None
        The model's predictions for ``held_out``, if there are any yet.

    Returns
    -------
    Verdict
    """
    if held_out is not None and predictions is None:
        predictions = predict_dataset(model, held_out)
    unseen = unseen_labels(
        model, train if held_out is None else held_out, held_out or without_labels(train), predictions
    )
    return judge(
        model,
        history,
        compare(model, train, held_out, predictions),
        style_information(model, train, len(train)),
        why_no_error(model, held_out, train),
        unseen,
    )


def judge(
    model: TrainedModel,
    history: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Comparison],
    dimensions: Sequence[tuple[str, float]],
    no_error: str = "",
    unseen: Sequence[Unseen] = (),
    counterfactuals: Sequence[Counterfactual] = (),
) -> Verdict:
    """The verdict from what has been computed of a model.

    Parameters
    ----------
    model : TrainedModel
        The model.
    history : sequence of mapping
        The logged records.
    comparisons : sequence of Comparison
        Losses beside those of baselines.
    dimensions : sequence of (str, float)
        The information of each dimension of the style.
    no_error : str
        Why the error of some factors is not known.
    unseen : sequence of Unseen
        Predictions for labels that the model was not trained on.
    counterfactuals : sequence of Counterfactual
        What happens when a factor is changed.
    """
    findings: list[Finding] = []
    examined = []
    constants = {
        one.factor: one.measure.total(one.constant) for one in comparisons if one.unseen and len(one.constant)
    }
    for comparison in comparisons:
        findings += [*below_linear(comparison), *overfitting(comparison)]
        examined.append(
            f"{comparison.factor} on {len(comparison.model):,} {comparison.of} labels beside a linear model"
        )
    for one in unseen:
        findings += few_labels(one, constants.get(one.factor))
        if one.measure.share:
            findings += overconfident(one)
            # weights that the user chose move the shares on purpose
            findings += [] if one.factor in model.class_weights else class_shares(one)
    findings += [*unchanged(counterfactuals), *collapsed(model, dimensions), *improving(history)]
    if any(one.measure.share for one in unseen):
        examined.append("probabilities and class shares")
    examined += ["what changes with each factor"] if counterfactuals else []
    examined += ["the information in the style"] if dimensions else []
    examined += ["the end of the training curve"] if history else []
    return Verdict(tuple(findings), tuple(examined), no_error, tuple(unseen), tuple(comparisons))


def warn_of_findings(found: Verdict) -> None:
    """A :class:`~unknot.errors.TrainingWarning` for each finding, at the line that called our caller.

    That labels are few is no fault of the training, and is left to reports.
    """
    for finding in found.findings:
        if finding.kind != "few labels":
            warnings.warn(finding.text, TrainingWarning, stacklevel=3)
