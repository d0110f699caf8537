"""WideEnsemble: the ensemble of a table, on the components of rows with many columns, or of series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from unknot.core.evidence import GivenValues, Partial
from unknot.core.trace import Trace
from unknot.models.ensemble.components import Components
from unknot.models.ensemble.ensemble import Ensemble
from unknot.models.ensemble.gene_components import GeneComponents
from unknot.models.ensemble.series_components import SeriesComponents
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.models.features.features import Features
from unknot.models.features.genes import Genes
from unknot.models.features.wide import Wide


class WideEnsemble(Ensemble):
    """An ensemble whose columns are the K components of raw rows ``(B, C)``, dense or sparse, or of series.

    The bound and the likelihood are those of the components: an item's log-likelihood is that of K numbers, not of
    its C columns. Rows are generated as the expected rows of generated components.

    Parameters
    ----------
    spec : EnsembleSpec
        The ensemble as data; its ``components`` say what raw rows are.
    """

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        raw, size = spec.components or {}, len(spec.columns)
        self.components: Components | GeneComponents | SeriesComponents
        if "steps" in raw:
            self.components = SeriesComponents(raw["channels"], raw["steps"], size)
        elif "variable" in raw:
            self.components = GeneComponents(raw["columns"], raw["variable"], size, raw["counts"])
        else:
            self.components = Components(raw["columns"], size, raw["counts"])
        self._ids, self._rows_by_id = torch.zeros(0, dtype=torch.int64), torch.zeros(0)

    @torch.no_grad()
    def prepare(self, data: Any) -> None:
        """Take the components from all rows of a data set, labeled or not, then prepare the ensemble on them."""
        self.components.learn(data.x)
        rows = self.components.of_all(data.x)
        order = data.ids.argsort()
        self._ids, self._rows_by_id = data.ids[order], rows[order]  # each row is used in many batches
        super().prepare(replace(data, x=rows, table=()))

    def item_features(self) -> Features | None:
        if isinstance(self.components, GeneComponents):
            return Genes(self.components)
        return None if isinstance(self.components, SeriesComponents) else Wide(self.components)

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        return super().encode(self.components(x), labels, samples)

    def member_predictions(self, x: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        return super().member_predictions(self.components(x))

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        return super().decode(None if x is None else self.components(x), q)

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        return super().forward(replace(batch, x=self._components_of(batch)))

    def _components_of(self, batch: Any) -> Tensor:
        """Return the components of a batch, of training rows those that :meth:`prepare` has computed."""
        if len(self._ids):
            place = torch.searchsorted(self._ids, batch.ids).clamp_max(len(self._ids) - 1)
            if torch.equal(self._ids[place], batch.ids):
                return self._rows_by_id[place]
        rows: Tensor = self.components(batch.x)
        return rows

    def expected_data(self, q: Trace | GivenValues) -> Tensor:
        """Expected items of the expected components at the values in ``q``; counts are per row of total L."""
        return self.components.inverse(super().expected_data(q))

    def sample_data(self, q: Trace | GivenValues) -> Tensor:
        """Items of drawn components; counts are drawn around them (Poisson), other numbers have no noise
        of their own."""
        rows = self.components.inverse(super().sample_data(q))
        return torch.poisson(rows) if self.components.counts else rows
