"""Wide: the features of rows with many columns, the components of a truncated SVD."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.models.ensemble.components import Components, are_counts
from unknot.models.features.features import Features, register_features

FEWEST_COLUMNS = 501
_COMPONENTS = 50


@register_features
class Wide(Features):
    """Principal components of log-normalized counts or standardized numbers (:class:`Components`).

    Components are those of all rows, and keep their own scale: one with little variance stays small.

    Parameters
    ----------
    components : Components or mapping
        The projection, or the arguments of its constructor.
    """

    name: ClassVar[str] = "wide"

    def __init__(self, components: Components | Mapping[str, Any]) -> None:
        super().__init__()
        made = components if isinstance(components, Components) else Components(**components)
        self.components: Components = made

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        if len(data.item_shape) != 1 or any(column.kind == "category" for column in data.table):
            return False
        many = isinstance(data.x, Tensor) and data.item_shape[0] >= FEWEST_COLUMNS
        return many or (isinstance(data.x, SparseCounts) and not data.columns)

    @classmethod
    @torch.no_grad()
    def for_data(cls, data: Dataset) -> Wide:
        columns = data.item_shape[0]
        size = max(1, min(_COMPONENTS, len(data) - 1, columns))
        made = cls({"columns": columns, "size": size, "counts": are_counts(data.x)})
        made.components.learn(data.x)
        return made

    @property
    def settings(self) -> Mapping[str, Any]:
        columns, size = self.components.vectors.shape
        return {"components": {"columns": columns, "size": size, "counts": self.components.counts}}

    @property
    def size(self) -> int:
        return int(self.components.vectors.shape[1])

    def forward(self, x: Tensor) -> Tensor:
        rows: Tensor = self.components(x.float())
        return rows
