"""Encoders of places: choices among cells (:class:`CellChoice`), and S17's recurrent network (:class:`Glances`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus

from experiments.canvases.model.cell_map import CellMap, Looked, over_views
from unknot.core.axes import cat
from unknot.core.distributions import stick_breaking_count
from unknot.core.evidence import Partial, partial
from unknot.core.trace import Trace
from unknot.models.networks.mlp import mlp


class Glances(nn.Module):
    """The count from the canvas, h_k from the canvas and h_(k-1) by a GRU, and the place from h_k (S17 Fig. 5).

    Parameters and convolutions are those of :class:`CellChoice`.
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


_LEAST = 0.004  # the smallest standard deviation of a place: a tenth of a pixel of fifty
_BOLD = 2.0  # temperature of the candidates after the first

Places = tuple[Tensor, Tensor]  # means and standard deviations, (..., B, 3) each


class CellChoice(nn.Module):
    """An encoder of places that chooses one cell of the canvas for each object.

    Every cell c predicts the position m_c of an object and a logit t_c that c is at its center, reduced near the places
    of earlier objects. The log-odds that there is no further object are a threshold minus log Σ_c exp t_c. The cell of
    the next object has the distribution softmax(t_c + k_c · s), where s depends on the objects so far. The chosen cell
    predicts the place. A regression of the k-th position would average over several candidates.

    The choice has no gradient. Where places are known it is trained by the cell of the place.

    Parameters
    ----------
    canvas : int
        Pixels of the side of a canvas.
    size : float
        The typical side of an object, as a share of the canvas.
    fewest, most : int
        Bounds of the count.
    """

    def __init__(
        self, canvas: int, size: float, fewest: int, most: int, features: int = 48, state: int = 64
    ) -> None:
        super().__init__()
        self.fewest, self.most, self.size = fewest, most, size
        self.cells = CellMap(canvas, features)
        self.middle = mlp(features, [features], 1)
        self.keys = nn.Linear(features + 2, state)
        self.start = nn.Parameter(torch.zeros(state))
        self.next = nn.GRUCell(features + 3, state)
        self.query = nn.Linear(state, state)
        self.find = mlp(features, [2 * features], 6)
        # offset between the center of an image and that of its object, which flipped views cannot show
        self.middle_off = nn.Parameter(torch.zeros(2))
        self.threshold = nn.Parameter(torch.zeros(()))
        # height, and width over cells and over predicted positions, relative to the size of the object
        self.bump = nn.Parameter(torch.tensor([3.0, 0.5, 0.3]))

    def forward(self, x: Tensor, known: Sequence[Partial | None], samples: int | None) -> Looked:
        looks: list[Trace] = []

        def look(k: int, logits: Tensor, at: Callable[[Tensor], Places]) -> tuple[Tensor, Tensor]:
            looks.append(q := Trace(samples))
            cell = self._choose(q, logits, known[k])
            mean, deviation = at(cell)
            return cell, q.normal(mean, deviation, value=known[k], name="place", event_dims=1).detach()

        return Looked(self._run(x, look), looks)

    def ways(self, x: Tensor, number: int) -> tuple[Tensor, Tensor]:
        """Return candidates for each canvas: places ``(W, B, K, 3)`` and logits of the counts ``(W, B, N)``.

        The first takes the most likely cells. The others are samples at a higher temperature (argmax of logits / 2 +
        Gumbel noise) with the same random numbers for every canvas, so that predictions do not depend on the batch.
        """
        like = self.cells.centers
        draws = torch.rand(self.most, number, 1, len(like), generator=torch.Generator().manual_seed(0))
        noise = -_BOLD * draws.clamp(1e-9, 1 - 1e-6).log().neg().log().to(like)  # (K, W, 1, cells)
        noise[:, 0] = 0
        places: list[Tensor] = []

        def look(k: int, logits: Tensor, at: Callable[[Tensor], Places]) -> tuple[Tensor, Tensor]:
            cell = one_hot((logits + noise[k]).argmax(-1), len(like)).to(logits.dtype)  # (W, B, cells)
            places.append(at(cell)[0])
            return cell, places[-1]

        count = self._run(x, look)
        return torch.stack(places, -2), count

    def _run(
        self, x: Tensor, look: Callable[[int, Tensor, Callable[[Tensor], Places]], tuple[Tensor, Tensor]]
    ) -> Tensor:
        """Run all choices in order; return the logits of the counts, ``(..., B, N)``.

        ``look(k, logits, at)`` returns a one-hot cell and a place ``(..., B, 3)``; ``at(cell)`` are mean and standard
        deviation of the place that the cell predicts.
        """
        features, there, loc, scale = self._seen(x)
        keys = self.keys(cat([features, self.cells.centers]))  # (B, cells, H)
        state = self.start.expand(len(x), -1)
        stops: list[Tensor] = []
        for k in range(self.most):
            stops.append(self.threshold - there.logsumexp(-1))  # (..., B)
            nearness = torch.einsum("bch,...bh->...bc", keys, self.query(state))  # (..., B, cells)
            cell, place = look(k, there + nearness, lambda one: (_at(one, loc), _at(one, scale)))
            there = there - self._bump(place, loc)
            state = self._after(cat([_at(cell, features), place]), state)
        no_more = torch.stack(torch.broadcast_tensors(*stops[self.fewest :]), -1)  # (..., B, turns)
        return stick_breaking_count(no_more).logits

    def _seen(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return features ``(B, cells, D)``, logits of centers, and means and standard deviations of places."""
        views = self.cells(x)
        places = [self._places(*view) for view in views]
        return (
            over_views([features for features, _ in views]),
            over_views([self.middle(features).squeeze(-1) for features, _ in views]),  # (B, cells)
            over_views([loc for loc, _ in places]),  # (B, cells, 3)
            over_views([scale for _, scale in places]),  # (B, cells, 3)
        )

    def _choose(self, q: Trace, logits: Tensor, known: Partial | None) -> Tensor:
        """Return the one-hot cell ``(..., B, cells)``; where the place is known, the cell of the place."""
        label = None if known is None else partial(self.cells.nearest(known.values.nan_to_num()), known.known)
        return q.one_hot_categorical(
            logits=logits, value=label, name="cell", gradient="detached", event_dims=1
        )

    def _places(self, features: Tensor, back: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and standard deviations of the places that the cells predict: ``(B, cells, 3)`` each."""
        step, grown, raw = self.find(features).split([2, 1, 3], -1)
        size = self.size * (1 + 0.2 * grown)
        middle = self.cells.centers + self.cells.pitch * step @ back + size * self.middle_off
        return cat([middle, size]), 0.1 * softplus(raw - 1) + _LEAST

    def _bump(self, place: Tensor, loc: Tensor) -> Tensor:
        """Return the reduction of the logits of cells near earlier objects, ``(..., B, cells)``."""
        high, near, same = softplus(self.bump * 5)
        size = place[..., 2:].clamp(min=0.1 * self.size)  # (..., B, 1)
        at = place[..., None, :2]
        apart = (at - self.cells.centers).square().sum(-1) / (near / 5 * size).square()
        aside = (at - loc[..., :2]).square().sum(-1) / (same / 5 * size).square()
        return high * torch.exp(-(apart + aside) / 2)

    def _after(self, seen: Tensor, state: Tensor) -> Tensor:
        leading = seen.shape[:-1]
        state = state.expand(*leading, state.shape[-1])
        return self.next(seen.flatten(0, -2), state.flatten(0, -2)).unflatten(0, leading)


def _at(cell: Tensor, values: Tensor) -> Tensor:
    """Return the values ``(B, cells, D)`` of one-hot cells ``(..., B, cells)``: ``(..., B, D)``."""
    values = values.expand(*cell.shape, values.shape[-1])
    index = cell.argmax(-1)[..., None, None].expand(*cell.shape[:-1], 1, values.shape[-1])
    return values.gather(-2, index).squeeze(-2)
