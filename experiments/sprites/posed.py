"""Posed: a model of images of one object, with a class and a pose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, one_hot, softplus

from experiments.canvases.model.placing import cut_out, put_down
from experiments.sprites.ink_frame import points, upright
from unknot.core.axes import cat
from unknot.core.evidence import GivenValues
from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.models.networks.conv import ImageTrunk
from unknot.models.networks.mlp import mlp

_FAINT = 2e-3  # the smallest probability of a pixel, dark or bright
_WITHIN = 0.4  # standard deviation of an angle in its sector; all sectors together are nearly uniform


class Posed(Program):
    """Images ``(1, C, C)`` of one object with a class, a style, and a pose: place, scale and angle.

    The decoder has place ~ N(0, .5²) for x and y, log scale ~ N(0, ``spread``²), an angle of a uniform sector and a
    normal offset, a uniform class and a style ~ N(0, I). A network predicts a template from class and style, which is
    normalized (:mod:`experiments.sprites.ink_frame`), rotated and placed.

    The encoder infers place and scale by convolutions, and the other variables from the crop at this place. Class and
    sector are enumerated, since the likelihood of the angle has several modes.

    Parameters
    ----------
    canvas, side : int
        Pixels of the side of an image and of a template.
    classes, sectors, style : int
        Numbers of classes, of sectors of the circle and of dimensions of the style.
    size, spread : float
        The typical scale of an object as a share of the canvas, and the standard deviation of its logarithm.
    pixels : int
        The number of pixels that each entry of the image is the mean of.
    """

    def __init__(
        self,
        canvas: int = 32,
        side: int = 16,
        classes: int = 3,
        sectors: int = 8,
        style: int = 0,
        size: float = 0.4,
        spread: float = 0.3,
        pixels: int = 1,
    ) -> None:
        super().__init__()
        self.canvas, self.side, self.classes, self.sectors, self.style = canvas, side, classes, sectors, style
        self.size, self.spread, self.pixels = size, spread, pixels
        self.find = _convolutions(canvas, 6)
        self.read = _convolutions(side, classes * (1 + 3 * sectors + 2 * style))
        self.draw = mlp(classes + style, [128], side * side)
        spot = 2 - 6 * points(side, torch.zeros(())).square().sum(-1)  # the initial template
        self.register_buffer("spot", spot)
        self.spot: Tensor

    def encode(self, x: Tensor, labels: Mapping[str, Any] | None = None, samples: int | None = None) -> Trace:
        """Run the encoder; labels are not used."""
        q = Trace(samples)
        found = self.find(x)  # (B, 6)
        place = q.normal(found[..., :2], _positive(found[..., 2:4]), name="place", event_dims=1)
        scale = q.normal(found[..., 4:5], _positive(found[..., 5:]), name="scale", event_dims=1)
        cut = cut_out(x, self._where(place, scale), self.side)  # (..., B, 1, S, S)
        by_class = self.read(cut).unflatten(-1, (self.classes, -1))  # (..., B, K, ...)
        kind = q.categorical(logits=by_class[..., 0], name="class", gradient="enumerate", event_dims=0)
        own = self._own(kind, by_class[..., 1:])
        turns, style = (
            own[..., : 3 * self.sectors].unflatten(-1, (self.sectors, 3)),
            own[..., 3 * self.sectors :],
        )
        sector = q.categorical(logits=turns[..., 0], name="sector", gradient="enumerate", event_dims=0)
        within = (one_hot(sector, self.sectors).to(x)[..., None] * turns).sum(-2)  # (..., B, 3)
        q.normal(within[..., 1:2], _positive(within[..., 2:]), name="within", event_dims=1)
        if self.style:
            loc, raw = style.chunk(2, -1)
            q.normal(loc, _positive(raw), name="style", event_dims=1)
        return q

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """Run the decoder."""
        p = Trace()
        usual = self.spot.new_zeros
        place = p.normal(usual(2), usual(2) + 0.5, value=q["place"], name="place", event_dims=1)
        scale = p.normal(usual(1), usual(1) + 1, value=q["scale"], name="scale", event_dims=1)
        kind = p.categorical(logits=usual(self.classes), value=q["class"], name="class")
        sector = p.categorical(logits=usual(self.sectors), value=q["sector"], name="sector")
        within = p.normal(usual(1), usual(1) + 1, value=q["within"], name="within", event_dims=1)
        made = one_hot(kind, self.classes).to(place)
        if self.style:
            style = p.normal(
                usual(self.style), usual(self.style) + 1, value=q["style"], name="style", event_dims=1
            )
            made = cat([made, style])
        turned = upright(self.template(made), self.angle(sector, within))
        lit = put_down(turned, self._where(place, scale), self.canvas)  # (..., B, 1, C, C)
        p.loss(self._pixel_loss, _FAINT + (1 - 2 * _FAINT) * lit, x, name="x")
        return p

    def template(self, made: Tensor) -> Tensor:
        """Return the templates ``(..., 1, S, S)``, from 0 to 1, of classes and styles ``(..., K + D)``."""
        return (self.draw(made) + self.spot).sigmoid().unflatten(-1, (1, self.side, self.side))

    def angle(self, sector: Tensor, within: Tensor) -> Tensor:
        """Return the angle ``(..., 1)`` in radians, from -π to π."""
        turns = (sector.unsqueeze(-1) + _WITHIN * within) / self.sectors
        return 2 * math.pi * (turns - (turns + 0.5).floor())

    def predictions(self, q: Trace) -> dict[str, Tensor]:
        """Return the angle at the modes of class and sector and the mean within the sector, ``(B, 1)``."""
        return {"angle": self.angle(q["sector"].value, q["within"].dist.mean)}

    def _own(self, kind: Tensor, by_class: Tensor) -> Tensor:
        """Select the outputs ``(..., B, K, D)`` of each item's class ``(..., B)``: ``(..., B, D)``."""
        return (one_hot(kind, self.classes).to(by_class)[..., None] * by_class).sum(-2)

    def _where(self, place: Tensor, scale: Tensor) -> Tensor:
        """Return x, y and the scale relative to the canvas, ``(..., 3)``."""
        return cat([place, self.size * (self.spread * scale).clamp(-2, 2).exp()])

    def _pixel_loss(self, lit: Tensor, x: Tensor) -> Tensor:
        return self.pixels * binary_cross_entropy(lit, x.expand_as(lit), reduction="none").sum((-3, -2, -1))


def _convolutions(side: int, outputs: int) -> nn.Sequential:
    """Return convolutions over an image and a perceptron over their features."""
    trunk = ImageTrunk(torch.Size((1, side, side)), (16, 32, 32), dropout=0.0)
    return nn.Sequential(trunk, mlp(trunk.features, [128], outputs))


def _positive(raw: Tensor) -> Tensor:
    return softplus(raw - 1) + 1e-3
