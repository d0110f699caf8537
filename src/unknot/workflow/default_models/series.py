"""Series: the default model of series with labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.series import is_series
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.schema import setting, whole
from unknot.workflow.default_models.tables import TableEnsemble


@dataclass(frozen=True)
class Series(TableEnsemble):
    """Series ``(C, T)`` with labels: the ensemble of a table on their principal components.

    Rows ``(T,)`` of numbers are series of one channel only if this default is chosen by name, since nothing tells
    them from a table. Its predictions are stacked with models on random convolutions
    (:mod:`unknot.models.features.series`).
    """

    name: ClassVar[str] = "series"
    components: int = setting(whole(1, 1000), "components of the truncated SVD, or fewer", 30)

    FEATURES: ClassVar[str | None] = "series"
    MOST_COLUMNS: ClassVar[int] = 10**6

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        rows = len(data.item_shape) == 1 and not data.table
        if not isinstance(data.x, Tensor) or len(data) < 2 or not (rows or is_series(data)):
            return "is for series in memory, (N, C, T), or (N, T) of one channel"
        return "" if data.factors else "needs labels"

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        return is_series(data) and super().suits(data)

    def spec(self, data: Dataset) -> EnsembleSpec:
        """Return the ensemble of the components: at most one fewer than items, whose means are subtracted."""
        shape = data.item_shape
        raw = {"columns": shape.numel(), "counts": False, "channels": shape[0] if len(shape) == 2 else 0}
        raw["steps"] = shape[-1]
        size = min(self.components, len(data) - 1, raw["columns"])
        columns: list[Mapping[str, Any]] = [{"name": f"component {i}", "kind": "real"} for i in range(size)]
        return self._ensemble(data, columns, size, components=raw)
