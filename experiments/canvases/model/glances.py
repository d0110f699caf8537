"""Glances: the encoder of places as S17 prints it, a recurrent network that tells one place after another."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from experiments.canvases.model.cell_map import CellMap, over_views
from experiments.canvases.model.looked import Looked
from unknot.core.evidence import Partial
from unknot.core.trace import Trace

_LEAST = 0.004


class Glances(nn.Module):
    """The count from the canvas; then h_k from the canvas and h_(k-1) by a GRU, and the place from h_k (S17 Fig. 5).

    Arguments as of :class:`~experiments.canvases.model.cell_choice.CellChoice`, whose convolutions it has.
    """

    def __init__(
        self, canvas: int, size: float, fewest: int, most: int, features: int = 48, state: int = 128
    ) -> None:
        super().__init__()
        self.most, self.size, self.state = most, size, state
        self.cells = CellMap(canvas, features)
        self.whole = nn.Sequential(nn.Linear(features * self.cells.side**2, 2 * state), nn.ReLU())
        self.count = nn.Linear(2 * state, most - fewest + 1)
        self.next = nn.GRUCell(2 * state, state)
        self.find = nn.Linear(state, 6)

    def forward(self, x: Tensor, known: Sequence[Partial | None], samples: int | None) -> Looked:
        seen = over_views([self.whole(features.flatten(1)) for features, _ in self.cells(x)])  # (B, 2H)
        state = seen.new_zeros(len(x), self.state)
        looks = []
        for k in range(self.most):
            state = self.next(seen, state)
            at, grown, raw = self.find(state).split([2, 1, 3], -1)
            q = Trace(samples)
            loc = torch.cat([at, self.size * (1 + 0.2 * grown)], -1)
            q.normal(loc, softplus(raw - 1) + _LEAST, value=known[k], name="place", event_dims=1)
            looks.append(q)
        return Looked(self.count(seen), looks)
