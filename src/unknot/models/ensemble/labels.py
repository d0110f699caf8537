"""The labels that an ensemble learns from, dealt into folds so that each is hidden from some members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from unknot.core.evidence import Partial, partial
from unknot.errors import SpecError
from unknot.models.ensemble.factors import MemberFactor
from unknot.models.ensemble.table_views import TableViews
from unknot.models.predictor.targets import folds_of


@dataclass(frozen=True)
class HeldLabels:
    """The n known labels of one factor, in the order of their rows' ids.

    - ``ids``: int64 (n,); ``inputs``: what an encoder reads of the rows, (n, I); ``labels``: all known;
    - ``folds``: which fold hides each, (n,); ``visible``: which member may see it, (M, n).
    """

    ids: Tensor
    inputs: Tensor
    labels: Partial
    folds: Tensor
    visible: Tensor

    def to(self, device: torch.device) -> HeldLabels:
        """Return the labels on another device."""
        labels = partial(self.labels.values.to(device), self.labels.known.to(device))
        moved = [one.to(device) for one in (self.ids, self.inputs, self.folds, self.visible)]
        return HeldLabels(moved[0], moved[1], labels, moved[2], moved[3])


@dataclass(frozen=True)
class HeldEvidence:
    """What is known of one factor with classes about n rows beside single classes; no member is kept from seeing it.

    - ``inputs``: what an encoder reads of the rows, (n, I);
    - ``evidence``: log-potentials of the classes, (n, K), or ``votes`` of raters, (n, M).
    """

    inputs: Tensor
    evidence: Tensor | None
    votes: Tensor | None

    def __len__(self) -> int:
        return len(self.inputs)

    def select(self, rows: Any) -> HeldEvidence:
        """Return some of the rows."""
        evidence = None if self.evidence is None else self.evidence[rows]
        return HeldEvidence(self.inputs[rows], evidence, None if self.votes is None else self.votes[rows])


def hold_evidence(factor: MemberFactor, data: Any, views: TableViews) -> HeldEvidence | None:
    """What a data set says about a factor beside single classes, or None."""
    labels = data.factors[factor.name]
    if labels.evidence is None and labels.votes is None:
        return None
    if labels.kind == "continuous":
        raise SpecError(
            f"ensemble: the labels of '{factor.name}' have intervals, which an ensemble does not take; choose model: "
            "{kind: class_style} (model='class_style' in Python)."
        )
    rows = labels.observed & ~labels.known if labels.votes is None else (labels.votes >= 0).any(1)
    rows = rows.nonzero()[:, 0]
    evidence, votes = (None if one is None else one[rows] for one in (labels.evidence, labels.votes))
    return HeldEvidence(views(data.x[rows]).inputs, evidence, votes)


def hold_labels(factor: MemberFactor, data: Any, views: TableViews) -> HeldLabels:
    """The known labels of a factor in a data set."""
    known = data.factors[factor.name].known
    if not bool(data.factors[factor.name].observed.any()):
        raise SpecError(f"ensemble: no label of '{factor.name}' is known; leave the factor out.")
    rows = known.nonzero()[:, 0]
    rows = rows[data.ids[rows].argsort()]
    labels = factor.value(data.factors[factor.name].values[rows])
    folds = folds_of(factor.order(labels.values), factor.folds).to(rows.device)
    hides = torch.arange(factor.members, device=rows.device)[:, None] % factor.folds
    return HeldLabels(data.ids[rows], views(data.x[rows]).inputs, labels, folds, folds != hides)
