"""TableEnsemble: the default model of tables with labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from unknot.data.batch import any_known
from unknot.data.dataset import Column, Dataset
from unknot.data.stored_items import StoredItems
from unknot.errors import SpecError
from unknot.models.ensemble.spec import PLAIN_SETTINGS, SETTINGS, EnsembleSpec, read_ensemble
from unknot.models.likelihoods.table import describe_columns
from unknot.schema import ANYTHING, left_out_or, list_of, setting, whole
from unknot.workflow.default_models.base import NOTHING, STYLE, DefaultModel, is_table
from unknot.workflow.labels import class_count, raters_of


@dataclass(frozen=True)
class TableEnsemble(DefaultModel):
    """Tables with labels: an ensemble of small models (:mod:`unknot.models.ensemble.ensemble`).

    Few labels and unknown columns: no single strength of regularization is right everywhere.
    """

    name: ClassVar[str] = "ensemble"
    style: int | None = setting(
        STYLE, "dimensions of what the factors leave over; by default half the columns", None
    )
    hidden: int = setting(whole(1, 1 << 14), "width of hidden layers", 32)
    folds: int = setting(whole(2, 10**4), "in how many parts the labels are hidden in turn", 5)
    settings: tuple[Any, ...] | None = setting(
        left_out_or(list_of(ANYTHING, 1)), "in what the members differ", None
    )

    MOST_LABELS: ClassVar[int] = 5000  # with more, one larger network learns more than many small ones
    FEWEST_COLUMNS: ClassVar[int] = 1
    MOST_COLUMNS: ClassVar[int] = 1000  # categories counted by their classes
    MOST_CLASSES: ClassVar[int] = 200  # the sum over more takes hours and the memory of the machine

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        if not is_table(data) or isinstance(data.x, StoredItems):
            return "is for tables in memory"
        return cls._without_inputs(data)

    @staticmethod
    def _without_inputs(data: Dataset) -> str:
        if data.given:
            return "takes nothing that is given"
        return "" if data.factors else "needs labels"

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        if cls.unsuitable(data) or any(int(factor.observed.sum()) < 2 for factor in data.factors.values()):
            return False
        if any(f.kind == "continuous" and f.evidence is not None for f in data.factors.values()):
            return False  # intervals
        if cls._classes(data) > cls.MOST_CLASSES:
            return False
        if int(any_known(data, None).sum()) > cls.MOST_LABELS:
            return False
        return cls.FEWEST_COLUMNS <= cls._width(data) <= cls.MOST_COLUMNS

    def spec(self, data: Dataset) -> EnsembleSpec:
        """Return the ensemble of a table: its columns, its factors, and the sizes that follow from them."""
        rows = data.x if isinstance(data.x, Tensor) else data.x[:]
        columns = data.table or tuple(Column(f"column {i}", "real") for i in range(rows.shape[1]))
        kinds, names = [c.kind for c in columns], [c.name for c in columns]
        described = describe_columns(kinds, rows, names, [len(c.classes) for c in columns])
        missing = torch.isnan(rows).any(0).tolist()
        made = [{**c, "missing": True} if m else c for c, m in zip(described, missing, strict=True)]
        return self._ensemble(data, made, self._width(data))

    def _ensemble(
        self, data: Dataset, columns: list[Mapping[str, Any]], width: int, **more: Any
    ) -> EnsembleSpec:
        """Return the ensemble of described columns, of ``width`` numbers.

        If a factor is a number, members with plain settings, ridge regression among them, are added.
        """
        factors: dict[str, dict[str, Any]] = {}
        for name, factor in data.factors.items():
            if factor.kind == "continuous":
                size = factor.values.shape[1] if factor.values.ndim == 2 else 1
                factors[name] = {"family": "normal", "size": size}
            else:
                factors[name] = {
                    "family": "concrete",
                    "size": class_count(factor),
                    "raters": raters_of(factor),
                }
        numbers = any(one["family"] == "normal" for one in factors.values())
        usual = (*SETTINGS, *PLAIN_SETTINGS) if numbers else SETTINGS
        return read_ensemble(
            {
                "columns": columns,
                "factors": factors,
                "rows": len(data),
                "style": self.style or self._style_size(width),
                "hidden": self.hidden,
                "folds": self.folds,
                "settings": usual if self.settings is None else self.settings,
                **more,
            }
        )

    def training(self, data: Dataset, given: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        objective = given.get("objective")
        symbols = {"name": objective} if isinstance(objective, str) else objective or {"name": "elbo"}
        own = isinstance(symbols, Mapping) and symbols.get("name", "elbo") in ("elbo", "supervised")
        if not own or symbols.get("alpha") or "regularizers" in symbols:
            raise SpecError(
                "train.objective: an ensemble is trained by its own bound, elbo, and its members have weights of the "
                "labels of their own; for another objective, alpha or regularizers choose model: {kind: class_style} "
                "(model='class_style' in Python)."
            )
        made = super().training(data, given)
        return {**made, "batch_size": min(made["batch_size"], len(data))}

    def _training(self, data: Dataset) -> dict[str, Any]:
        # The divergence of the style in closed form; few steps at a high rate.
        return {
            "objective": {"name": "elbo", "analytic": True},
            "steps": 500,
            "batch_size": 64,
            "learning_rate": {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20},
            "betas": [0.9, 0.99],
            "labeled_share": None,
        }

    @staticmethod
    def _style_size(columns: int) -> int:
        """Half the columns, from 2 to 20."""
        return min(max(columns // 2, 2), 20)

    @staticmethod
    def _classes(data: Dataset) -> int:
        """Classes of the one factor that would cost as much as all: each is an input in every combination of them."""
        counts = [class_count(factor) for factor in data.factors.values() if factor.kind != "continuous"]
        return math.isqrt(math.prod(counts) * sum(counts))

    @staticmethod
    def _width(data: Dataset) -> int:
        """Columns as networks see them, categories one-hot."""
        return sum(max(len(c.classes), 1) for c in data.table) if data.table else data.x.shape[1]
