"""Genes: the features of cells, components of their most variable genes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.models.ensemble.gene_components import COMPONENTS, VARIABLE, GeneComponents
from unknot.models.features.features import Features, register_features


@register_features
class Genes(Features):
    """Components of cells (:class:`GeneComponents`), in their own scale.

    Parameters
    ----------
    components : GeneComponents or mapping
        The projection, or the arguments of its constructor.
    """

    name: ClassVar[str] = "genes"

    def __init__(self, components: GeneComponents | Mapping[str, Any]) -> None:
        super().__init__()
        made = components if isinstance(components, GeneComponents) else GeneComponents(**components)
        self.components: GeneComponents = made

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        return isinstance(data, CellDataset)

    @classmethod
    @torch.no_grad()
    def for_data(cls, data: Dataset) -> Genes:
        assert isinstance(data, CellDataset)
        genes = data.item_shape[0]
        size = max(1, min(COMPONENTS, len(data) - 1, genes))
        made = GeneComponents(genes, min(VARIABLE, genes), size, data.are_counts)
        made.learn(data.x)
        return cls(made)

    @property
    def settings(self) -> Mapping[str, Any]:
        genes, size = self.components.vectors.shape
        made = {"genes": genes, "variable": self.components.variable, "size": size}
        return {"components": {**made, "counts": self.components.counts}}

    @property
    def size(self) -> int:
        return int(self.components.vectors.shape[1])

    def forward(self, x: Tensor) -> Tensor:
        rows: Tensor = self.components(x.float())
        return rows
