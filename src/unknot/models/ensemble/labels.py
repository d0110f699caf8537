"""The labels that an ensemble learns from, dealt into folds so that each is hidden from some members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from unknot.core.evidence import Partial
from unknot.errors import SpecError
from unknot.models.ensemble.factors import MemberFactor
from unknot.models.ensemble.table_views import TableViews


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


def folds_of(order_by: Tensor, folds: int, seed: int = 0) -> Tensor:
    """Which fold hides each of n labels, (n,): equal parts, in which classes (or small and large numbers) are mixed
    alike, since neighbors in the order of ``order_by`` go to different folds.

    >>> folds_of(torch.tensor([0, 1, 0, 1, 0, 1]), 3).bincount()
    tensor([2, 2, 2])
    """
    generator = torch.Generator().manual_seed(seed)
    count = len(order_by)
    shuffled = torch.randperm(count, generator=generator)
    order = shuffled[order_by.cpu()[shuffled].argsort(stable=True)]
    first = int(torch.randint(folds, (), generator=generator))
    found = torch.empty(count, dtype=torch.int64)
    found[order] = (torch.arange(count) + first) % folds
    return found
