"""Canvas: a model of canvases with several things, in which a trained model of one thing is nested (S17 Fig. 5)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

from unknot.core.given_values import GivenValues
from unknot.core.partial import Partial, partial
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.canvas.cell_choice import CellChoice
from unknot.models.canvas.glances import Glances
from unknot.models.canvas.placing import cut_out, put_down
from unknot.suggest import did_you_mean

LOOKS: dict[str, type[CellChoice | Glances]] = {"cell_choice": CellChoice, "glances": Glances}
THING = "thing"  # sites are called thing[0].place, thing[0].digit, ...
_FAINT = 1e-3  # no pixel is surely dark or bright


class Canvas(nn.Module):
    """Canvases with several things, each drawn by a trained model of one thing and put in its place.

    **Generative**: a count K; for each k < K the variables and the expected image of the nested model, and a place
    a_k; the pixels from the placed images, lit where any of them is (S17 sec. 3.3).

    **Recognition**: K and the places by ``looks``, one of two ways; then each thing's own variables from what lies
    at its place, by the nested model's own recogniser. K is enumerated. A place by cell choice comes with the
    cell that it was found in, an auxiliary variable: the generative model says, given the place, which cell it was
    found in, so the bound stays a bound for any such say.

    **Order**: the looks go from left to right; labels do too.

    Labels are called ``count``, ``place_1``, ``digit_1``, ... (the last after the nested model's labelled variable),
    each known or not for each item.

    - ``digit``: the nested model: any module with ``encode`` and ``decode_mean``, as a spec's ``nested`` gives it.
    - ``looks``: cell_choice or glances.
    - ``canvas``, ``side``: pixels of the canvas's side and of one thing's image.
    - ``fewest``, ``most``: how many things there can be.
    - ``reads``: the nested model's labelled variable.
    """

    def __init__(
        self,
        digit: nn.Module,
        looks: str = "cell_choice",
        canvas: int = 50,
        side: int = 28,
        fewest: int = 1,
        most: int = 3,
        reads: str = "digit",
    ) -> None:
        super().__init__()
        if looks not in LOOKS:
            raise SpecError(
                f"looks: there is no recogniser of places '{looks}'; {did_you_mean(looks, LOOKS)}"
            )
        if not 0 <= fewest < most:
            raise SpecError(f"a canvas holds from fewest to most things, but got {fewest} to {most}.")
        self.fewest, self.most, self.canvas, self.side, self.reads = fewest, most, canvas, side, reads
        self.size = 0.8 * side / canvas  # a thing's usual scale
        self.digit: Any = digit
        self.looks: CellChoice | Glances = LOOKS[looks](canvas, self.size, fewest, most)

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        """Both programs on a batch, as training calls them."""
        q = self.encode(batch.x, batch.values)
        return q, self.decode(batch.x, q)

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
            label = told.get(f"{self.reads}_{k + 1}")
            with q.where(self._there(more, k)):
                q.include(look, THING, k)
                image = cut_out(x, self._inside(look["place"].value), self.side)  # (..., B, 1, S, S)
                q.include(self.digit.encode(image, None if label is None else {self.reads: label}), THING, k)
        return q

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """The generative program."""
        p = Trace()
        here = next(self.looks.parameters())
        more = p.categorical(logits=here.new_zeros(self._counts), value=q["more"], name="more")
        dark = here.new_ones(())
        for k in range(self.most):
            there = self._there(more, k)
            with p.where(there):
                place = self._placed(p, q, k)
                inner, image = self.digit.decode_mean(q.under(THING, k))
                p.include(inner, THING, k)
            lit = put_down(image, self._inside(place), self.canvas)  # (..., B, 1, C, C)
            dark = dark * (1 - there[..., None, None, None] * lit)
        p.loss(_pixel_loss, (1 - dark).clamp(_FAINT, 1 - _FAINT), x, name="x")
        return p

    def summaries(self, q: Trace) -> dict[str, Tensor]:
        """What the trace says of the labels, by name: probabilities of counts, from 0 on, and of classes; places."""
        more = q["more"].dist.probs  # (B, counts)
        said = {"count": torch.cat([more.new_zeros(len(more), self.fewest), more], -1)}
        for k in range(self.most):
            said[f"{self.reads}_{k + 1}"] = q[f"{THING}[{k}].{self.reads}"].dist.probs
            said[f"place_{k + 1}"] = q[f"{THING}[{k}].place"].dist.mean
        return said

    def parts(self, q: Trace) -> Tensor:
        """Each thing alone at its place, ``(B, K, 1, C, C)``; empty beyond the count. ``q`` is at best values."""
        found = []
        for k in range(self.most):
            image = self.digit.decode_mean(q.under(THING, k))[1]
            drawn = put_down(image, self._inside(q[f"{THING}[{k}].place"].value), self.canvas)
            found.append(drawn * self._there(q["more"].value, k)[:, None, None, None])
        return torch.stack(found, 1)

    def with_most(self, most: int) -> Canvas:
        """The same weights in a program that looks up to ``most`` times: cell choice knows no last look."""
        if not isinstance(self.looks, CellChoice):
            raise SpecError("only looks: cell_choice can look more often than it was trained to.")
        longer = deepcopy(self)
        longer.most, longer.looks.most = most, most
        return longer

    def _placed(self, p: Trace, q: Trace | GivenValues, k: int) -> Tensor:
        """The place of a thing and, where it was found by way of a cell, that cell."""
        usual = next(self.looks.parameters()).new_tensor
        with p.scope(THING, k):
            place = p.normal(
                usual([0.0, 0.0, self.size]),
                usual([0.5, 0.5, 0.2 * self.size]),
                value=q[f"{THING}[{k}].place"],
                name="place",
            )
            if isinstance(self.looks, CellChoice):
                cells = self.looks.cells
                apart = (place[..., None, :2] - cells.centres).square().sum(-1) / cells.pitch**2
                p.one_hot_categorical(logits=-2 * apart, value=q[f"{THING}[{k}].cell"], name="cell")
        return place

    @property
    def _counts(self) -> int:
        return self.most - self.fewest + 1

    def _there(self, more: Tensor, k: int) -> Tensor:
        return more + self.fewest > k

    def _inside(self, place: Tensor) -> Tensor:
        """Places with a scale that an image can have."""
        return torch.cat([place[..., :2], place[..., 2:].clamp(0.3 * self.size, 2 * self.size)], -1)


def _pixel_loss(canvas: Tensor, x: Tensor) -> Tensor:
    return binary_cross_entropy(canvas, x.expand_as(canvas), reduction="none").sum((-3, -2, -1))
