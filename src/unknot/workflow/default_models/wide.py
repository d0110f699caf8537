"""Wide: the default model of rows of many numbers or counts with labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.models.ensemble.components import are_counts
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.schema import setting, whole
from unknot.workflow.default_models.base import is_text
from unknot.workflow.default_models.tables import TableEnsemble


@dataclass(frozen=True)
class Wide(TableEnsemble):
    """Rows of many numbers or counts with labels: the ensemble of a table on the components of a truncated SVD.

    The components are those of all rows, labeled or not (:mod:`unknot.models.ensemble.components`).
    """

    name: ClassVar[str] = "wide"
    components: int = setting(whole(1, 1000), "components of the truncated SVD, or fewer", 50)

    FEWEST_COLUMNS: ClassVar[int] = 501  # below the columns themselves are what the ensemble learns from
    MOST_COLUMNS: ClassVar[int] = 10**6

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        rows = isinstance(data.x, Tensor | SparseCounts) and len(data.item_shape) == 1 and len(data) > 1
        if not rows or is_text(data) or any(column.kind == "category" for column in data.table):
            return "is for rows of numbers or counts in memory"
        return cls._without_inputs(data)

    def spec(self, data: Dataset) -> EnsembleSpec:
        """Return the ensemble of the components: at most one fewer than rows, whose means are subtracted."""
        raw = {"columns": data.item_shape[0], "counts": are_counts(data.x)}
        size = min(self.components, len(data) - 1, raw["columns"])
        columns: list[Mapping[str, Any]] = [{"name": f"component {i}", "kind": "real"} for i in range(size)]
        return self._ensemble(data, columns, size, components=raw)
