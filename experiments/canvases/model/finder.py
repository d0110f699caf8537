"""Finder: how many things there are on a canvas, and where; what they are is another's to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from experiments.canvases.model.cell_choice import CellChoice
from experiments.canvases.model.glances import Glances
from experiments.canvases.model.layout import log_weights
from unknot.core.axes import cat
from unknot.core.evidence import GivenValues, Partial, partial
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.suggest import did_you_mean

LOOKS: dict[str, type[CellChoice | Glances]] = {"cell_choice": CellChoice, "glances": Glances}
THING = "thing"  # sites are called thing[0].place, thing[0].digit, ...


class Finder(nn.Module):
    """The part of a model of canvases that counts and finds: two programs of its own.

    **Generative**: a count K, and for each k < K a place a_k. **Recognition**: K and the places by ``looks``, one of
    two ways. A place by cell choice comes with the cell that it lies in, and the generative program has cells too: one
    that is inside the canvas and apart from the things before it (:mod:`experiments.canvases.model.layout`), then a
    place about its middle.

    It has no pixels to explain, so on its own it learns from labels alone. The nested model does not run then, and
    nothing is lost by it while that model is frozen and all is known of a canvas: its terms have no gradient here.

    Labels are called ``count``, ``place_1``, ...; arguments as of
    :class:`~experiments.canvases.model.canvas.Canvas`, and ``size``: a thing's usual side, as a share of the canvas.
    """

    def __init__(self, looks: str, canvas: int, size: float, fewest: int, most: int) -> None:
        super().__init__()
        if looks not in LOOKS:
            raise SpecError(f"looks: there is no encoder of places '{looks}'; {did_you_mean(looks, LOOKS)}")
        if not 0 <= fewest < most:
            raise SpecError(f"a canvas holds from fewest to most things, but got {fewest} to {most}.")
        self.size, self.fewest, self.most = size, fewest, most
        self.looks: CellChoice | Glances = LOOKS[looks](canvas, size, fewest, most)

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        """Both programs on a batch, as training calls them."""
        q = self.encode(batch.x, batch.values)
        return q, self.decode(q)

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """The recognition program: labels where known, draws elsewhere."""
        told = {n: v if isinstance(v, Partial) else partial(v) for n, v in (labels or {}).items()}
        looked = self.looks(x, [told.get(f"place_{k + 1}") for k in range(self.most)], samples)
        q = Trace(samples)
        known = told.get("count")
        if known is not None:
            known = partial(known.values - self.fewest, known.known)
        more = q.categorical(
            logits=looked.count, value=known, name="more", gradient="enumerate", event_dims=0
        )
        for k, look in enumerate(looked.looks):
            with q.where(self.there(more, k)):
                q.include(look, THING, k)
        return q

    def decode(self, q: Trace | GivenValues) -> Trace:
        """The generative program: every count is as likely; things lie inside the canvas and keep apart."""
        p = Trace()
        usual = next(self.looks.parameters()).new_tensor
        counts = usual([0.0] * (self.most - self.fewest + 1))
        more = p.categorical(logits=counts, value=q["more"], name="more")
        earlier: list[Tensor] = []
        for k in range(self.most):
            with p.where(self.there(more, k)), p.scope(THING, k):
                middle, spread = usual([0.0, 0.0]), 0.5
                if isinstance(self.looks, CellChoice):
                    cells = self.looks.cells
                    weights = log_weights(cells.centers, earlier, self.size)
                    cell = p.one_hot_categorical(logits=weights, value=q[f"{THING}[{k}].cell"], name="cell")
                    middle, spread = cell @ cells.centers, 0.35 * cells.pitch
                size = middle.new_full((*middle.shape[:-1], 1), self.size)
                place = p.normal(
                    cat([middle, size]),
                    usual([spread, spread, 0.15 * self.size]),
                    value=q[f"{THING}[{k}].place"],
                    name="place",
                )
                earlier.append(place)
        return p

    def labels(self, p: Trace) -> dict[str, Tensor]:
        """What a generated trace says of count and places, as labels: from left to right, unknown beyond the count."""
        count = p["more"].value + self.fewest  # (B,)
        place = torch.stack([p[f"{THING}[{k}].place"].value for k in range(self.most)], 1)  # (B, K, 3)
        place = place.gather(1, from_the_left(place, count)[..., None].expand_as(place))
        place = place.masked_fill(_beyond(self.most, count)[..., None], torch.nan)
        return {"count": count, **{f"place_{k + 1}": place[:, k] for k in range(self.most)}}

    def candidates(self, x: Tensor, ways: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the rows of canvases whose count depends on the way to look, ``(R,)``, and labels for each way."""
        if not isinstance(self.looks, CellChoice) or ways < 2:
            return torch.arange(0, device=x.device), {}
        place, count = self.looks.ways(x, ways)  # (W, B, K, 3), (W, B, N)
        number = count.argmax(-1) + self.fewest  # (W, B)
        unsure = (number != number[0]).any(0).nonzero()[:, 0]
        place, number = place[:, unsure], number[:, unsure]
        place = place.masked_fill(_beyond(self.most, number)[..., None], torch.nan)
        way, at = _different(place, number, self.looks.cells.pitch / 2).nonzero(as_tuple=True)
        told = {f"place_{k + 1}": place[way, at, k] for k in range(self.most)}
        return unsure[at], {"count": number[way, at], **told}

    def there(self, more: Tensor, k: int) -> Tensor:
        """Whether there is a thing k, for values of the site ``more``."""
        return more + self.fewest > k

    def look_up_to(self, most: int) -> None:
        """Look up to ``most`` times from now on: cell choice knows no last look."""
        if not isinstance(self.looks, CellChoice):
            raise SpecError("only looks: cell_choice can look more often than it was trained to.")
        self.most = self.looks.most = most


def from_the_left(place: Tensor, count: Tensor) -> Tensor:
    """The order ``(B, K)`` of places ``(B, K, 3)`` from left to right; those beyond the count ``(B,)`` come last."""
    return place[..., 0].masked_fill(_beyond(place.shape[1], count), torch.inf).argsort(dim=1, stable=True)


def _beyond(slots: int, count: Tensor) -> Tensor:
    """Which of so many slots hold nothing, for counts ``(...)``: ``(..., K)``."""
    return torch.arange(slots, device=count.device) >= count[..., None]


def _different(place: Tensor, number: Tensor, near: float) -> Tensor:
    """Which ways ``(W, U)`` are none of those before them: another count, or a place that is not ``near`` to theirs."""
    place = place.nan_to_num()
    new = torch.ones_like(number, dtype=torch.bool)
    for way in range(1, len(number)):
        apart = (place[:way] - place[way]).abs().amax((-2, -1))  # (ways before, U)
        new[way] = ((number[:way] != number[way]) | (apart > near)).all(0)
    return new
