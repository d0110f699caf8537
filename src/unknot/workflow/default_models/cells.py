"""Cells: the default model of single cells with labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.models.ensemble.gene_components import VARIABLE
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.schema import setting, whole
from unknot.workflow.default_models.wide import Wide


@dataclass(frozen=True)
class Cells(Wide):
    """Cells with labels: the ensemble of a table on components of the most variable genes.

    The components are those of all cells, labeled or not (:mod:`unknot.models.ensemble.gene_components`).
    """

    name: ClassVar[str] = "cells"
    genes: int = setting(whole(1, 10**6), "most variable genes that the components are of", VARIABLE)

    FEWEST_COLUMNS: ClassVar[int] = 1

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        if not isinstance(data, CellDataset) or len(data) < 2:
            return "is for cells of AnnData"
        return cls._without_inputs(data)

    def spec(self, data: Dataset) -> EnsembleSpec:
        assert isinstance(data, CellDataset)
        genes = data.item_shape[0]
        raw = {"columns": genes, "counts": data.are_counts, "variable": min(self.genes, genes)}
        size = min(self.components, len(data) - 1, genes)
        columns: list[Mapping[str, Any]] = [{"name": f"component {i}", "kind": "real"} for i in range(size)]
        return self._ensemble(data, columns, size, components=raw)
