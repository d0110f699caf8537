"""Columns: the features of a table, standardized numbers, indicators of categories and of missing values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from unknot.data.dataset import Dataset
from unknot.data.stored_items import StoredItems
from unknot.models.features.features import Features, register_features

_FAR = 8.0  # standard deviations at which numbers are clipped
_ROWS = 10_000  # that are read at once


@register_features
class Columns(Features):
    """Columns of a table: numbers standardized by all rows and clipped to ±8, categories as one indicator per class.

    A missing number is the mean of its column, a missing category has no class; columns with missing values in the
    training data have a further indicator of them.

    Parameters
    ----------
    sizes : sequence of int
        The number of classes of each column, 0 for numbers.
    missing : sequence of bool
        Which columns have missing values.
    """

    name: ClassVar[str] = "columns"

    def __init__(self, sizes: Sequence[int], missing: Sequence[bool]) -> None:
        super().__init__()
        self.sizes, self.missing = [int(s) for s in sizes], [bool(m) for m in missing]
        self.register_buffer("center", torch.zeros(len(self.sizes)))
        self.register_buffer("scale", torch.ones(len(self.sizes)))
        self.center: Tensor
        self.scale: Tensor

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        if data.table:
            return True
        return (
            isinstance(data.x, Tensor | StoredItems) and data.x.ndim == 2 and data.x.dtype.is_floating_point
        )

    @classmethod
    def for_data(cls, data: Dataset) -> Columns:
        columns = data.item_shape[0]
        sizes = [len(c.classes) if c.kind == "category" else 0 for c in data.table] or [0] * columns
        missing = torch.zeros(columns, dtype=torch.bool)
        total, known = torch.zeros(columns).double(), torch.zeros(columns).double()
        for rows in _blocks(data):
            missing |= rows.isnan().any(0)
            total += rows.nan_to_num().sum(0)
            known += (~rows.isnan()).sum(0)
        made = cls(sizes, missing.tolist())
        center, squares = total / known.clamp_min(1), torch.zeros(columns).double()
        for rows in _blocks(data):
            squares += (rows - center).nan_to_num().square().sum(0)
        scale = (squares / known.clamp_min(1)).sqrt()
        made.center.copy_(center)
        made.scale.copy_(torch.where(scale > 1e-9, scale, 1.0))
        return made

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"sizes": self.sizes, "missing": self.missing}

    @property
    def size(self) -> int:
        return sum(max(size, 1) for size in self.sizes) + sum(self.missing)

    def forward(self, x: Tensor) -> Tensor:
        lost = x.isnan()
        numbers = ((x - self.center) / self.scale).nan_to_num().clamp(-_FAR, _FAR)
        parts = []
        for i, size in enumerate(self.sizes):
            if size == 0:
                parts.append(numbers[:, i : i + 1])
                continue
            indicators = one_hot(x[:, i].nan_to_num().long().clamp(0, size - 1), size).to(x.dtype)
            parts.append(indicators * ~lost[:, i : i + 1])
        return torch.cat([*parts, lost[:, self.missing].to(x.dtype)], 1)


def _blocks(data: Dataset) -> Iterator[Tensor]:
    for start in range(0, len(data), _ROWS):
        rows = torch.arange(start, min(start + _ROWS, len(data)))
        yield data.batch(rows.to(data.device)).x.cpu().double()
