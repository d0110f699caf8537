"""Finder: number and places of the objects on a canvas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from experiments.canvases.model.cell_choice import CellChoice, Glances
from unknot.core.axes import cat
from unknot.core.evidence import GivenValues, Partial, partial
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.suggest import did_you_mean

_INSIDE = (0.72, 0.66)  # the largest distance from the center of the canvas, in x and y
_APART = (0.55, 0.68)  # the smallest distance between objects in x or y, in sides of their images
_SOFT = 0.05
_MEET = 0.02  # relative probability of an overlap


def log_weights(points: Tensor, earlier: Sequence[Tensor], size: float) -> Tensor:
    """Return the unnormalized log-probability of an object at each point: ``(..., P)``.

        Π_axis σ((i_axis - |v_axis|) / s) · Π_earlier [m + 1 - Π_axis (1 - σ((|v - u|_axis / side - a_axis) / s))]

    for the point v and earlier objects at u: inside the canvas and apart from the others. The constants are those of
    canvases of MNIST's digits without overlaps.

    Parameters
    ----------
    points : Tensor
        ``(P, 2)``, x and y from -1 to 1.
    earlier : sequence of Tensor
        Places ``(..., 3)`` of the objects so far.
    size : float
        The typical side of an object, as a share of the canvas.
    """
    weights = logsigmoid((points.new_tensor(_INSIDE) - points.abs()) / _SOFT).sum(-1)
    for place in earlier:
        side = (place[..., 2:] + size).clamp(min=size).unsqueeze(-2)  # (..., 1, 1): a canvas is two wide
        gap = (points - place[..., None, :2]).abs() / side  # (..., P, 2)
        meets = torch.sigmoid((gap.new_tensor(_APART) - gap) / _SOFT).prod(-1)
        weights = weights + torch.log(_MEET + 1 - meets)
    return weights


LOOKS: dict[str, type[CellChoice | Glances]] = {"cell_choice": CellChoice, "glances": Glances}
THING = "thing"  # sites are thing[0].place, thing[0].digit, ...


class Finder(nn.Module):
    """The encoder and decoder of the count K and the places a_k, k < K, of a model of canvases.

    With cell choice both programs have the cell of each place: in the decoder a cell with the probability of
    :func:`log_weights`, then a place near its center.

    Without pixels the finder is trained on labels alone. This is the same as training the whole model if the nested
    model is frozen and all labels of a canvas are known. Labels are ``count``, ``place_1``, ...; parameters are those
    of :class:`~experiments.canvases.model.canvas.Canvas`, and ``size``, the typical side of an object.
    """

    def __init__(self, looks: str, canvas: int, size: float, fewest: int, most: int) -> None:
        super().__init__()
        if looks not in LOOKS:
            raise SpecError(f"looks: there is no encoder of places '{looks}'; {did_you_mean(looks, LOOKS)}")
        if not 0 <= fewest < most:
            raise SpecError(f"expected 0 <= fewest < most objects on a canvas, got {fewest} to {most}.")
        self.size, self.fewest, self.most = size, fewest, most
        self.looks: CellChoice | Glances = LOOKS[looks](canvas, size, fewest, most)

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        """Return both traces of a batch."""
        q = self.encode(batch.x, batch.values)
        return q, self.decode(q)

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """Run the encoder, with labels where known and samples elsewhere."""
        known_labels = {n: v if isinstance(v, Partial) else partial(v) for n, v in (labels or {}).items()}
        looked = self.looks(x, [known_labels.get(f"place_{k + 1}") for k in range(self.most)], samples)
        q = Trace(samples)
        known = known_labels.get("count")
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
        """Run the decoder: a uniform count, and places inside the canvas and apart from each other."""
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
        """Return count and places of a generated trace as labels, from left to right and unknown past the count."""
        count = p["more"].value + self.fewest  # (B,)
        place = torch.stack([p[f"{THING}[{k}].place"].value for k in range(self.most)], 1)  # (B, K, 3)
        place = place.gather(1, from_the_left(place, count)[..., None].expand_as(place))
        place = place.masked_fill(_beyond(self.most, count)[..., None], torch.nan)
        return {"count": count, **{f"place_{k + 1}": place[:, k] for k in range(self.most)}}

    def candidates(self, x: Tensor, ways: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the rows of canvases whose candidates differ in count, ``(R,)``, and the labels of each candidate."""
        if not isinstance(self.looks, CellChoice) or ways < 2:
            return torch.arange(0, device=x.device), {}
        place, count = self.looks.ways(x, ways)  # (W, B, K, 3), (W, B, N)
        number = count.argmax(-1) + self.fewest  # (W, B)
        unsure = (number != number[0]).any(0).nonzero()[:, 0]
        place, number = place[:, unsure], number[:, unsure]
        place = place.masked_fill(_beyond(self.most, number)[..., None], torch.nan)
        way, at = _different(place, number, self.looks.cells.pitch / 2).nonzero(as_tuple=True)
        known_labels = {f"place_{k + 1}": place[way, at, k] for k in range(self.most)}
        return unsure[at], {"count": number[way, at], **known_labels}

    def there(self, more: Tensor, k: int) -> Tensor:
        """Return whether there is an object k, for values of the site ``more``."""
        return more + self.fewest > k

    def look_up_to(self, most: int) -> None:
        """Change the largest count; only for cell choice."""
        if not isinstance(self.looks, CellChoice):
            raise SpecError("a larger count than in training needs looks: cell_choice.")
        self.most = self.looks.most = most


def from_the_left(place: Tensor, count: Tensor) -> Tensor:
    """Return the order ``(B, K)`` of places ``(B, K, 3)`` from left to right; places past the count are last."""
    return place[..., 0].masked_fill(_beyond(place.shape[1], count), torch.inf).argsort(dim=1, stable=True)


def _beyond(slots: int, count: Tensor) -> Tensor:
    """Return which slots are empty, for counts ``(...)``: ``(..., K)``."""
    return torch.arange(slots, device=count.device) >= count[..., None]


def _different(place: Tensor, number: Tensor, near: float) -> Tensor:
    """Return which candidates ``(W, U)`` differ from all before them in the count or in a place."""
    place = place.nan_to_num()
    new = torch.ones_like(number, dtype=torch.bool)
    for way in range(1, len(number)):
        apart = (place[:way] - place[way]).abs().amax((-2, -1))  # (ways before, U)
        new[way] = ((number[:way] != number[way]) | (apart > near)).all(0)
    return new
