"""WideEnsemble: the ensemble of a table, on the components of rows with many columns."""

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
from unknot.models.ensemble.spec import EnsembleSpec


class WideEnsemble(Ensemble):
    """An ensemble whose columns are the K components of raw rows ``(B, C)``, dense or sparse.

    The bound and the likelihood are those of the components: an item's log-likelihood is that of K numbers, not of
    its C columns. Rows are generated as the expected rows of generated components.

    Parameters
    ----------
    spec : EnsembleSpec
        The ensemble as data; its ``components`` say what raw rows are.
    """

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__(spec)
        raw = spec.components or {}
        self.components = Components(raw["columns"], len(spec.columns), raw["counts"])

    @torch.no_grad()
    def prepare(self, data: Any) -> None:
        """Take the components from all rows of a data set, labeled or not, then prepare the ensemble on them."""
        self.components.learn(data.x)
        super().prepare(replace(data, x=self.components.of_all(data.x), table=()))

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        return super().encode(self.components(x), labels, samples)

    def member_predictions(self, x: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        return super().member_predictions(self.components(x))

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        return super().decode(None if x is None else self.components(x), q)

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        return super().forward(replace(batch, x=self.components(batch.x)))

    def expected_data(self, q: Trace | GivenValues) -> Tensor:
        """Expected rows ``(B, C)`` of the expected components at the values in ``q``; counts are per row of total L."""
        return self.components.inverse(super().expected_data(q))

    def sample_data(self, q: Trace | GivenValues) -> Tensor:
        """Rows ``(B, C)`` of drawn components; counts are drawn around them (Poisson), other numbers have no noise
        of their own."""
        rows = self.components.inverse(super().sample_data(q))
        return torch.poisson(rows) if self.components.counts else rows
