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


def hold_labels(factor: MemberFactor, data: Any, views: TableViews) -> HeldLabels:
    """The known labels of a factor in a data set."""
    known = data.factors[factor.name].known
    if not bool(known.any()):
        raise SpecError(f"ensemble: no label of '{factor.name}' is known; leave the factor out.")
    rows = known.nonzero()[:, 0]
    rows = rows[data.ids[rows].argsort()]
    labels = factor.value(data.factors[factor.name].values[rows])
    folds = folds_of(factor.order(labels.values), factor.folds).to(rows.device)
    hides = torch.arange(factor.members, device=rows.device)[:, None] % factor.folds
    return HeldLabels(data.ids[rows], views(data.x[rows]).inputs, labels, folds, folds != hides)
