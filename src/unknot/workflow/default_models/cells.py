"""Cells: the default model of single cells with labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.workflow.default_models.wide import Wide


@dataclass(frozen=True)
class Cells(Wide):
    """Cells with labels: the ensemble of a table on the components of log-normalized counts of all genes."""

    name: ClassVar[str] = "cells"

    FEWEST_COLUMNS: ClassVar[int] = 1

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        if not isinstance(data, CellDataset) or len(data) < 2:
            return "is for cells of AnnData"
        return cls._without_inputs(data)

    @staticmethod
    def _are_counts(data: Dataset) -> bool:
        assert isinstance(data, CellDataset)
        return data.are_counts
