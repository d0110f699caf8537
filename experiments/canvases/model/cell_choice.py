"""Cell choice: each look chooses a cell of the canvas, or says that there is no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus

from experiments.canvases.model.cell_map import CellMap, over_views
from experiments.canvases.model.looked import Looked
from unknot.core.axes import cat
from unknot.core.distributions import stick_breaking_count
from unknot.core.evidence import Partial, partial
from unknot.core.trace import Trace
from unknot.models.networks.mlp import mlp

_LEAST = 0.004  # the least standard deviation of a place: a tenth of a pixel of fifty
_BOLD = 2.0  # what the logits of other ways to look are divided by

Places = tuple[Tensor, Tensor]  # means and standard deviations, (..., B, 3) each


class CellChoice(nn.Module):
    """An encoder of places that points instead of averaging.

    Every cell c says where the thing it sees lies, m_c, and how much it looks like the middle of it, t_c, less what
    earlier looks have taken: a bump on cells near to their places that see the same thing.
    There is no more with the log-odds of a threshold against log Σ_c exp t_c; which one comes next is a choice
    among the cells, softmax(t_c + k_c · s), where the state s knows the looks so far; the chosen cell
    says where it lies exactly. A regression of "the k-th from the left" would, of two candidates, take
    the middle between them.

    The choice is hard and passes no gradient: where places are known it is taught by the cell of the place,
    and everything after it by the place itself.

    - ``canvas``: pixels of its side. ``size``: the usual side of a thing, as a share of the canvas.
    - ``fewest``, ``most``: how many things there can be.
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
        # where an image's middle lies from that of what it shows: canvases seen flipped cannot tell
        self.middle_off = nn.Parameter(torch.zeros(2))
        self.threshold = nn.Parameter(torch.zeros(()))
        # how high, and how wide over cells and over what they point at, in sizes of the thing
        self.bump = nn.Parameter(torch.tensor([3.0, 0.5, 0.3]))

    def forward(self, x: Tensor, known: Sequence[Partial | None], samples: int | None) -> Looked:
        looks: list[Trace] = []

        def look(k: int, logits: Tensor, at: Callable[[Tensor], Places]) -> tuple[Tensor, Tensor]:
            looks.append(q := Trace(samples))
            cell = self._choose(q, logits, known[k])
            mean, deviation = at(cell)
            return cell, q.normal(mean, deviation, value=known[k], name="place", event_dims=1).detach()

        return Looked(self._turns(x, look), looks)

    def ways(self, x: Tensor, number: int) -> tuple[Tensor, Tensor]:
        """Several ways to look at each canvas: places ``(W, B, K, 3)`` and logits of the counts ``(W, B, N)``.

        The first way takes the best cell at every look. The others are draws of a bolder choice, the softmax of half
        the logits, and take for every canvas the same random numbers (argmax of logits / 2 + Gumbel noise): the
        answer is the same each time, and does not depend on which canvases are asked for together.
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

        count = self._turns(x, look)
        return torch.stack(places, -2), count

    def _turns(
        self, x: Tensor, look: Callable[[int, Tensor, Callable[[Tensor], Places]], tuple[Tensor, Tensor]]
    ) -> Tensor:
        """All looks, one after another; returns the logits of the counts, ``(..., B, N)``.

        ``look(k, logits, at)`` chooses a cell, one-hot, and says the place, ``(..., B, 3)``; ``at(cell)`` is what the
        cell says of it.
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
        """Features ``(B, cells, D)``, how much each cell sees the middle of a thing, where it lies and how surely."""
        views = self.cells(x)
        places = [self._places(*view) for view in views]
        return (
            over_views([features for features, _ in views]),
            over_views([self.middle(features).squeeze(-1) for features, _ in views]),  # (B, cells)
            over_views([loc for loc, _ in places]),  # (B, cells, 3)
            over_views([scale for _, scale in places]),  # (B, cells, 3)
        )

    def _choose(self, q: Trace, logits: Tensor, known: Partial | None) -> Tensor:
        """The cell, one-hot ``(..., B, cells)``; where the place is known, the cell of the place."""
        told = None if known is None else partial(self.cells.nearest(known.values.nan_to_num()), known.known)
        return q.one_hot_categorical(
            logits=logits, value=told, name="cell", gradient="detached", event_dims=1
        )

    def _places(self, features: Tensor, back: Tensor) -> tuple[Tensor, Tensor]:
        """Where each cell says that its thing lies, and how sure it is: ``(B, cells, 3)`` both."""
        step, grown, raw = self.find(features).split([2, 1, 3], -1)
        size = self.size * (1 + 0.2 * grown)
        middle = self.cells.centers + self.cells.pitch * step @ back + size * self.middle_off
        return cat([middle, size]), 0.1 * softplus(raw - 1) + _LEAST

    def _bump(self, place: Tensor, loc: Tensor) -> Tensor:
        """What earlier things take from cells that are near to them and see them, ``(..., B, cells)``."""
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
    """What a chosen cell, one-hot ``(..., B, cells)``, has of values ``(B, cells, D)``: ``(..., B, D)``."""
    values = values.expand(*cell.shape, values.shape[-1])
    index = cell.argmax(-1)[..., None, None].expand(*cell.shape[:-1], 1, values.shape[-1])
    return values.gather(-2, index).squeeze(-2)
