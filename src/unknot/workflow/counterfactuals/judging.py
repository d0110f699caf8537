"""Judging: which items are changed, and which labels the judges (a reader, probes) learn from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from unknot.data.batch import any_known
from unknot.data.dataset import Dataset

MOST_JUDGED = 1000
MOST_LEARNED = 5000
LABELS_A_SETTING = 10  # that a judge learns from, for each class of a factor or each of five numbers


@dataclass(frozen=True)
class Judging:
    """Items to change, and labeled items to learn from; no item is among both."""

    judged: Dataset
    learning: Dataset


def judging(data: Dataset, train: Dataset | None = None, seed: int = 0) -> Judging:
    """The labeled items of ``data`` are judged, at most 1,000 and at most half of all labeled items there are.

    Judges learn from the other labeled items of ``data`` and from those of ``train`` (its labels that may be seen), at
    most 5,000, drawn with the ``seed``. Data without any label is judged without judges.
    """
    generator = torch.Generator().manual_seed(seed)
    labeled = any_known(data, None)
    seen = torch.zeros(0, dtype=torch.bool) if train is None else any_known(train, None)
    half = (int(labeled.sum()) + int(seen.sum())) // 2
    candidates = labeled.nonzero()[:, 0] if bool(labeled.any()) else torch.arange(len(data))
    candidates = candidates[torch.randperm(len(candidates), generator=generator)]
    count = min(MOST_JUDGED, max(half, 1)) if bool(labeled.any()) else MOST_JUDGED
    rest = candidates[count:] if bool(labeled.any()) else candidates[:0]
    parts = [_plain(data, rest)]
    if train is not None:
        rows = seen.nonzero()[:, 0]
        parts.append(_plain(train, rows[torch.randperm(len(rows), generator=generator)]))
    return Judging(_plain(data, candidates[:count].sort().values), _joined(parts))


def _plain(data: Dataset, rows: torch.Tensor) -> Dataset:
    """At most so many items in memory as numbers, whatever the data stores them as."""
    some = data.subset(rows[:MOST_LEARNED].to(data.device)).to("cpu")
    return replace(some, x=some.batch(range(len(some))).x.to_dense())


def _joined(parts: list[Dataset]) -> Dataset:
    """Items of several sets behind each other, at most 5,000, with the factors that all of them have."""
    first = parts[0]
    names = [name for name in first.factors if all(name in part.factors for part in parts)]
    factors = {
        name: replace(
            first.factors[name],
            values=torch.cat([part.factors[name].values for part in parts])[:MOST_LEARNED],
        )
        for name in names
    }
    x = torch.cat([torch.as_tensor(part.x) for part in parts])[:MOST_LEARNED]
    return replace(first, x=x, ids=torch.arange(len(x)), factors=factors, splits={})
