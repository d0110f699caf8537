"""Batches of a data set, and the order of the items in an epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import PackedBits, StoredItems
from unknot.errors import DataError

if TYPE_CHECKING:
    from unknot.data.dataset import Dataset


@dataclass(frozen=True)
class Batch:
    """B items of a data set; ``batch["digit"]`` is the values of a factor.

    Attributes
    ----------
    x : Tensor of float32, shape (B, ...)
        The items; a sparse tensor if the data are ``SparseCounts``.
    ids : Tensor of int64, shape (B,)
        The ids of the items.
    values : dict from factor to Tensor, shape (B,) or (B, D)
        The labels, and what is given beside the items; unknown ones are -1 (integers) or NaN (floats).
    known : dict from factor to Tensor of bool, shape (B,)
        Which labels are known.
    dataset_size : int
        The number of items in the data set, which the estimators of the inference marginal need.
    second_view : Tensor, optional
        The items augmented at random, for regularizers that compare two views.
    evidence : dict from factor to Tensor, shape (B, K) or (B, 2)
        Log-potentials of the classes, or ends of intervals, of factors whose labels are not all single values
        (:class:`~unknot.data.factor.Factor`).
    votes : dict from factor to Tensor of int64, shape (B, M)
        The classes that raters report.
    """

    x: Tensor
    ids: Tensor
    values: dict[str, Tensor]
    known: dict[str, Tensor]
    dataset_size: int
    second_view: Tensor | None = None
    evidence: dict[str, Tensor] = field(default_factory=dict)
    votes: dict[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, factor: str) -> Tensor:
        if factor not in self.values:
            raise DataError(f"the batch has no factor '{factor}'; it has {', '.join(self.values) or 'none'}.")
        return self.values[factor]

    def to(self, device: torch.device | str) -> Batch:
        """Return the batch on another ``device``."""

        def moved(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
            return {name: one.to(device, non_blocking=True) for name, one in tensors.items()}

        return replace(
            self,
            x=self.x.to(device, non_blocking=True),
            ids=self.ids.to(device, non_blocking=True),
            values=moved(self.values),
            known=moved(self.known),
            second_view=None if self.second_view is None else self.second_view.to(device, non_blocking=True),
            evidence=moved(self.evidence),
            votes=moved(self.votes),
        )


def floats(x: Tensor | PackedBits | SparseCounts | StoredItems, rows: Tensor) -> Tensor:
    """Return items as float32: uint8 images scaled to [0, 1], bits as 0 and 1, other numbers unchanged."""
    if not isinstance(x, Tensor):
        return x.floats(rows)
    # index_select copies whole rows: several times faster than x[rows], which goes pixel by pixel.
    items = x.index_select(0, rows)
    if items.dtype == torch.uint8:
        return items.float().div_(255)
    return items.float()


def take(dataset: Dataset, rows: Tensor) -> Batch:
    """Return the batch of the given rows (positions in the data set, not ids)."""
    return Batch(
        floats(dataset.x, rows),
        dataset.ids.index_select(0, rows),
        dataset_size=len(dataset),
        **_labels(dataset, rows),
    )


def _labels(dataset: Dataset, rows: Tensor) -> dict[str, Any]:
    """Return the labels of ``rows``, and what is given beside them, as the fields of a batch."""
    factors = {name: f.select(rows) for name, f in {**dataset.factors, **dataset.given}.items()}
    return {
        "values": {name: f.values for name, f in factors.items()},
        "known": {name: f.known for name, f in factors.items()},
        "evidence": {name: f.evidence for name, f in factors.items() if f.evidence is not None},
        "votes": {name: f.votes for name, f in factors.items() if f.votes is not None},
    }


def epoch_order(size: int, shuffle: bool, generator: torch.Generator | None) -> Tensor:
    """Return every row once: in order, or shuffled."""
    return torch.randperm(size, generator=generator) if shuffle else torch.arange(size)


def supervised_order(labeled: Tensor, share: float, generator: torch.Generator | None) -> Tensor:
    """Return the rows of one epoch in which labeled items make up the given share, spread evenly.

    Every unlabeled item occurs once. Labeled items are repeated in passes, shuffled anew for each pass, so that their
    frequencies differ by at most one. With T rows of which L are labeled, row t is labeled where floor((t+1) L/T)
    increases, so that any B consecutive rows contain B L/T labeled ones, rounded up or down. With a share of 1 an
    epoch is one pass over the labeled items.

    Parameters
    ----------
    labeled : Tensor of bool, shape (N,)
        Which items are labeled.
    share : float
        The share of labeled items in the epoch.
    generator : torch.Generator, optional
        The source of random numbers.

    Returns
    -------
    Tensor of int64, shape (T,)
    """
    rows_with, rows_without = labeled.nonzero()[:, 0], (~labeled).nonzero()[:, 0]
    if not 0.0 <= share <= 1.0:
        raise DataError(f"labeled_share is a fraction from 0 to 1, got {share}.")
    if len(rows_with) == 0 and share > 0:
        raise DataError(f"labeled_share={share}, but no item is labeled; draw a larger label budget.")
    if len(rows_without) == 0 and share < 1:
        raise DataError(f"labeled_share={share}, but every item is labeled; leave labeled_share out.")

    if share == 1.0:
        return _cycle(rows_with, len(rows_with), generator)
    count = round(share * len(rows_without) / (1 - share))
    total = count + len(rows_without)
    steps = torch.arange(total + 1) * count // total
    is_labeled = steps[1:] > steps[:-1]  # (T,)
    order = torch.empty(total, dtype=torch.int64)
    order[is_labeled] = _cycle(rows_with, count, generator)
    order[~is_labeled] = _cycle(rows_without, len(rows_without), generator)
    return order


def _cycle(rows: Tensor, count: int, generator: torch.Generator | None) -> Tensor:
    """Return ``count`` of the ``rows``, in passes over all of them, each in a new order."""
    if count == 0:
        return rows[:0]
    passes = -(-count // len(rows))
    orders = [rows[torch.randperm(len(rows), generator=generator)] for _ in range(passes)]
    return torch.cat(orders)[:count]


def iterate(
    dataset: Dataset, order: Tensor, batch_size: int, drop_last: bool, device: torch.device | str | None
) -> Iterator[Batch]:
    """Yield the batches of the rows in ``order``.

    Labels and ids are small: they are put in order once, so that a batch of them is a slice. Only x is gathered for
    each batch, on its device and without worker processes.
    """
    order = order.to(dataset.ids.device)
    stop = len(order) - len(order) % batch_size if drop_last else len(order)
    ids = dataset.ids.index_select(0, order)
    labels = _labels(dataset, order)
    for start in range(0, stop, batch_size):
        part = slice(start, min(start + batch_size, stop))
        sliced: dict[str, Any] = {
            field: {name: one[part] for name, one in by.items()} for field, by in labels.items()
        }
        batch = Batch(floats(dataset.x, order[part]), ids[part], dataset_size=len(dataset), **sliced)
        yield batch if device is None else batch.to(device)


def any_known(dataset: Dataset, factors: str | Sequence[str] | None) -> Tensor:
    """Return which items have a label of any of the named factors, bool ``(N,)``; None means all factors."""
    names = list(dataset.factors) if factors is None else [factors] if isinstance(factors, str) else factors
    known = torch.zeros(len(dataset), dtype=torch.bool)
    for name in names:
        known |= dataset.factor(name).known.cpu()
    return known
