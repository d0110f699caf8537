"""Canvas: a model of canvases with several things, in which a trained model of one thing is nested (S17 Fig. 5)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy, one_hot

from experiments.canvases.model.finder import THING, Finder, from_the_left
from experiments.canvases.model.placing import cut_out, put_down
from unknot.core.evidence import GivenValues, Partial, given, partial
from unknot.core.program import Program
from unknot.core.trace import Trace

_FAINT = 1e-3  # no pixel is surely dark or bright
_BLUR = 0.3  # standard deviation of an image that is known, from what is expected of it


class Canvas(Program):
    """Canvases with several things, each drawn by a trained model of one thing and put in its place.

    **Generative**: a count K; for each k < K the variables and the expected image of the nested model, and a place
    a_k; the pixels from the placed images, lit where any of them is (S17 sec. 3.3).

    **Recognition**: K and the places by ``looks``, one of two ways (:mod:`experiments.canvases.model.finder`); then
    each thing's own variables from what lies at its place, by the nested model's own encoder. K is enumerated.

    **Order**: the looks go from left to right; labels do too.

    Labels are called ``count``, ``place_1``, ``digit_1``, ... (the last after the nested model's labeled variable),
    and ``image_1``, ...: the things' own images, each known or not for each item. A known image x_k is normal about
    what the nested model expects, in the recognition about what lies at its place; it is what is put down on the
    canvas, and what the nested model's encoder sees.

    - ``digit``: the nested model, as a spec's ``nested`` gives it.
    - ``looks``: cell_choice or glances.
    - ``canvas``, ``side``: pixels of the canvas's side and of one thing's image.
    - ``fewest``, ``most``: how many things there can be.
    - ``reads``: the nested model's labeled variable.
    - ``ways``: in how many ways cell choice looks at a canvas when it is asked what is there; one: as it is drawn
      to, look by look.
    """

    def __init__(
        self,
        digit: Program,
        looks: str = "cell_choice",
        canvas: int = 50,
        side: int = 28,
        fewest: int = 1,
        most: int = 3,
        reads: str = "digit",
        ways: int = 16,
    ) -> None:
        super().__init__()
        self.fewest, self.canvas, self.side, self.reads, self.ways = fewest, canvas, side, reads, ways
        self.size = 0.8 * side / canvas  # a thing's usual scale
        self.digit = digit
        self.finder = Finder(looks, canvas, self.size, fewest, most)

    @property
    def most(self) -> int:
        """How many things are looked for at most."""
        return self.finder.most

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """The recognition program: labels where known, draws elsewhere."""
        told = {n: v if isinstance(v, Partial) else partial(v) for n, v in (labels or {}).items()}
        q = self.finder.encode(x, told, samples)
        for k in range(self.most):
            label = told.get(f"{self.reads}_{k + 1}")
            image = cut_out(x, self._inside(q[f"{THING}[{k}].place"].value), self.side)  # (..., B, 1, S, S)
            there = self.finder.there(q["more"].value, k)
            if f"image_{k + 1}" in told:
                image = self._observed(q, k, there, image, told[f"image_{k + 1}"])
            with q.where(there):
                q.include(self.digit.encode(image, None if label is None else {self.reads: label}), THING, k)
        return q

    def _observed(self, q: Trace, k: int, there: Tensor, cut: Tensor, label: Partial) -> Tensor:
        """What the digit's encoder sees: the thing's own image where it is known, else what was ``cut`` out."""
        known = label.known & there  # (..., B)
        values = label.values.nan_to_num().reshape(-1, 1, self.side, self.side).to(cut.dtype)
        with q.where(known), q.scope(THING, k):
            q.normal(cut, _BLUR, value=partial(values, label.known), name="image", event_dims=3)
        return torch.where(label.known[:, None, None, None], values, cut)

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """The generative program."""
        p = self.finder.decode(q)
        more = p["more"].value
        dark: list[Tensor] = []  # how dark each pixel is with so many things, from none on
        for k in range(self.most):
            inner, image = self.digit.decode_mean(q.under(THING, k))
            with p.where(self.finder.there(more, k)):
                p.include(inner, THING, k)
            seen = q.get(f"{THING}[{k}].image") if isinstance(q, Trace) else None
            if seen is not None:
                with p.scope(THING, k):
                    p.normal(image, _BLUR, value=seen, name="image")
                image = torch.where(seen.known[:, None, None, None], seen.value, image)
            lit = put_down(
                image, self._inside(p[f"{THING}[{k}].place"].value), self.canvas
            )  # (..., B, 1, C, C)
            dark = dark or [torch.ones_like(lit)]
            dark.append(dark[-1] * (1 - lit))
        counted = one_hot(more, self.most - self.fewest + 1).to(dark[0].dtype)  # (..., B, counts)
        pixels = torch.stack([one.flatten(-3) for one in dark[self.fewest :]], -2)  # (..., B, counts, C * C)
        # for every item the canvas with as many things as it has, in one product of small matrices
        lit = 1 - torch.einsum("...k,...kp->...p", counted, pixels)
        lit = lit.to(next(self.finder.parameters()).dtype).clamp(_FAINT, 1 - _FAINT)  # not in half precision
        p.loss(_pixel_loss, lit.unflatten(-1, dark[0].shape[-3:]), x, name="x")
        return p

    def sleep_phase(self, count: int) -> tuple[Trace, Trace]:
        """Run both programs of the finder on generated canvases, for the objective ``sleep``.

        The nested model was trained on data of its own: it generates canvases and does not learn from them. Pixels are
        drawn, because expected ones are more blurred than those of any canvas.
        """
        with torch.no_grad():
            p = self.decode(None, given(count))
            x = torch.bernoulli(p["x"].value)
        q = self.finder.encode(x, self.finder.labels(p))
        return q, self.finder.decode(q)

    def candidates(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the rows of canvases whose count depends on the way to look, ``(R,)``, and each count with its places.

        Two things may have been taken for one, or one for two. The nested model draws every candidate, and the one
        with the largest ELBO is used (:mod:`unknot.workflow.prediction`).
        """
        return self.finder.candidates(x, self.ways)

    def candidate_traces(self, x: Tensor, labels: Mapping[str, Tensor | Partial]) -> tuple[Trace, Trace]:
        """Return both traces at known counts and places; one view of a canvas is enough."""
        with self.finder.looks.cells.seen_once():
            q = self.encode(x, labels)
        return q, self.decode(x, q)

    def predictions(self, q: Trace) -> dict[str, Tensor]:
        """Return probabilities of counts, from 0 on, probabilities of classes, and places, by the names of the labels.

        The things go from left to right, as labels do, in whatever order they were found.
        """
        more = q["more"].dist.probs  # (B, counts)
        place = torch.stack([q[f"{THING}[{k}].place"].dist.mean for k in range(self.most)], 1)  # (B, K, 3)
        classes = torch.stack([q[f"{THING}[{k}].{self.reads}"].dist.probs for k in range(self.most)], 1)
        order = self._order(q)[..., None]  # (B, K, 1)
        place, classes = (torch.take_along_dim(one, order, 1) for one in (place, classes))
        found = {"count": torch.cat([more.new_zeros(len(more), self.fewest), more], -1)}
        for k in range(self.most):
            found[f"{self.reads}_{k + 1}"], found[f"place_{k + 1}"] = classes[:, k], place[:, k]
        return found

    def not_applicable(self, predictions: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return, by factor, the items that have fewer things than the factor needs, ``(B,)``."""
        count = predictions["count"].argmax(-1)
        names = [(k, name) for k in range(self.most) for name in (f"{self.reads}_{k + 1}", f"place_{k + 1}")]
        return {name: count <= k for k, name in names}

    def parts(self, q: Trace) -> Tensor:
        """Each thing alone at its place, ``(B, K, 1, C, C)``; empty beyond the count. ``q`` is at best values."""
        found = []
        for k in range(self.most):
            image = self.digit.decode_mean(q.under(THING, k))[1]
            drawn = put_down(image, self._inside(q[f"{THING}[{k}].place"].value), self.canvas)
            found.append(drawn * self.finder.there(q["more"].value, k)[:, None, None, None])
        order = self._order(q)[..., None, None, None]
        return torch.take_along_dim(torch.stack(found, 1), order, 1)

    def boxes(self, q: Trace) -> tuple[Tensor, list[str]]:
        """Where the parts lie, ``(B, K, 3)``, NaN beyond the count, and which factor tells what each of them is."""
        place = torch.stack([q[f"{THING}[{k}].place"].value for k in range(self.most)], 1)
        there = torch.stack([self.finder.there(q["more"].value, k) for k in range(self.most)], 1)
        place = place.masked_fill(~there[..., None], torch.nan)
        names = [f"{self.reads}_{k + 1}" for k in range(self.most)]
        return torch.take_along_dim(place, self._order(q)[..., None], 1), names

    def _order(self, q: Trace) -> Tensor:
        """The things from left to right, ``(B, K)``."""
        place = torch.stack([q[f"{THING}[{k}].place"].dist.mean for k in range(self.most)], 1)
        return from_the_left(place, q["more"].dist.probs.argmax(-1) + self.fewest)

    def with_most(self, most: int) -> Canvas:
        """The same weights in a program that looks up to ``most`` times: cell choice knows no last look."""
        longer = deepcopy(self)
        longer.finder.look_up_to(most)
        return longer

    def _inside(self, place: Tensor) -> Tensor:
        """Places with a scale that an image can have."""
        return torch.cat([place[..., :2], place[..., 2:].clamp(0.3 * self.size, 2 * self.size)], -1)


def _pixel_loss(canvas: Tensor, x: Tensor) -> Tensor:
    return binary_cross_entropy(canvas, x.expand_as(canvas), reduction="none").sum((-3, -2, -1))
