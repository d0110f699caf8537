"""Known inputs: nodes that are given with the items, conditioned on and never inferred."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unknot.data.factor import UNKNOWN
from unknot.errors import SpecError
from unknot.models.families import family
from unknot.models.node_spec import NodeSpec


class KnownInput(nn.Module):
    """The values of a node that is given, as other networks see them.

    Values are class indices ``(B,)``, -1 for unknown, or numbers ``(B, D)``, NaN for unknown. An unknown value has the
    features of the population, their mean over the training items.

    Parameters
    ----------
    spec : NodeSpec
        The node.
    """

    def __init__(self, spec: NodeSpec) -> None:
        super().__init__()
        self.spec = spec
        self.family = family(spec)
        self.register_buffer("population", torch.zeros(self.family.value_size))
        self.population: Tensor

    def prepare(self, data: Any) -> None:
        """Take the mean of the features over the items of a data set."""
        if self.spec.name not in data.given:
            raise SpecError(
                f"node '{self.spec.name}' is given, but the data have no values of it; name its column: --given "
                f"{self.spec.name} (given='{self.spec.name}' in Python)."
            )
        values = data.given[self.spec.name].values.to(self.population.device)
        known = values[self._known(values)]
        if len(known):
            self.population.copy_(self._features(known).mean(0))

    def values(self, given: Tensor | None, count: int) -> Tensor:
        """Return the values of ``count`` items, unknown where nothing is given."""
        if given is not None:
            return given.reshape(count, -1) if given.is_floating_point() else given
        device = self.population.device
        if self.family.has_classes:
            return torch.full((count,), UNKNOWN, device=device)
        return torch.full((count, self.family.size), torch.nan, device=device)

    def forward(self, values: Tensor) -> Tensor:
        """Return the features of values, ``(B, F)``."""
        known = self._known(values)
        filled = torch.where(known.reshape(-1, *[1] * (values.ndim - 1)), values, 0)
        return torch.where(known[:, None], self._features(filled), self.population)

    def _features(self, values: Tensor) -> Tensor:
        if self.family.has_classes:
            values = one_hot(values.long(), self.family.size)
        return self.family.features(values.reshape(len(values), -1).to(self.population.dtype))

    @staticmethod
    def _known(values: Tensor) -> Tensor:
        present = ~values.isnan() if values.is_floating_point() else values >= 0
        return present if present.ndim == 1 else present.all(1)
