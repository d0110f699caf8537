"""Encoder and decoder in principal components of images.

The pixels of a photograph are correlated: in SVHN the first direction, overall brightness, has three fifths of the
variance, and the hundredth a three-thousandth. A network on pixels learns the large directions first and the small
ones, strokes and hues, much later. In the coordinates

    c = S^-1 Vᵀ (x - μ)            x̂ = μ + V S c

with μ the mean of the training items, V their K principal axes and S the standard deviations along them, all directions
have variance one. μ, V and S are computed from the training items before training and stay fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import torch
from torch import Size, Tensor, nn

from unknot.core.distributions import without_autocast
from unknot.models.by_name import NAMED, Named
from unknot.models.networks.mlp import WIDEST
from unknot.models.networks.network import Decoder, Place, Trunk
from unknot.models.networks.registry import build_decoder
from unknot.schema import Schema, whole

_ITEMS = 8000  # evenly spaced training items, from which the axes are computed
_SWEEPS = 4  # of the power method; the last axes need several
_LEAST = 1e-5  # of the largest standard deviation: a smaller axis is rounding error and is set to zero


class PrincipalComponents(nn.Module):
    """μ, V and S of items; before :meth:`take` the coordinates are the first K entries of the items.

    Parameters
    ----------
    shape : Size
        Shape of an item.
    number : int
        The number of components K.

    Examples
    --------
    >>> basis = PrincipalComponents(Size((1, 2, 2)), 4)
    >>> x = torch.rand(5, 1, 2, 2)
    >>> torch.equal(basis.items(basis.coordinates(x)), x)
    True
    """

    mean: Tensor
    axes: Tensor
    spread: Tensor

    def __init__(self, shape: Size, number: int) -> None:
        super().__init__()
        self.shape, size = tuple(shape), math.prod(shape)
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("axes", torch.eye(size, number))
        self.register_buffer("spread", torch.ones(number))

    def coordinates(self, x: Tensor) -> Tensor:
        """Return c ``(..., K)`` of items ``(..., shape)``."""
        flat = x.flatten(-len(self.shape))
        with without_autocast(flat):
            return (flat.to(self.mean.dtype) - self.mean) @ self.axes / self.spread

    def items(self, coordinates: Tensor) -> Tensor:
        """Return x̂ ``(..., shape)`` of coordinates ``(..., K)``."""
        with without_autocast(coordinates):
            flat = self.mean + (coordinates.to(self.mean.dtype) * self.spread) @ self.axes.T
        return flat.reshape(*flat.shape[:-1], *self.shape)

    @torch.no_grad()
    def take(self, data: Any) -> None:
        """Compute μ, V and S from a data set; if its items vary in fewer directions, the last axes are zero."""
        rows = torch.linspace(0, len(data) - 1, min(_ITEMS, len(data)), dtype=torch.float64).long().unique()
        flat = data.batch(rows).x.flatten(1).to(self.mean)
        number = min(len(self.spread), len(flat))
        self.mean.copy_(flat.mean(0))
        with torch.random.fork_rng(devices=[]):  # a random start of the power method, the same each time
            torch.manual_seed(0)
            _, sizes, axes = torch.svd_lowrank(flat - self.mean, q=number, niter=_SWEEPS)
        real = sizes > _LEAST * sizes.max()
        self.axes.zero_()[:, :number] = axes * real
        self.spread.fill_(1.0)[:number] = torch.where(real, sizes / math.sqrt(len(flat)), 1.0)


class ComponentTrunk(Trunk):
    """Features of an encoder: the coordinates of an item."""

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"components": whole(1, WIDEST)}

    def __init__(self, shape: Size, components: int) -> None:
        number = min(components, shape.numel())
        super().__init__(number)
        self.basis = PrincipalComponents(shape, number)

    def prepare(self, data: Any, transform: Callable[[Tensor], Tensor]) -> None:
        self.basis.take(data)

    def forward(self, x: Tensor) -> Tensor:
        return self.basis.coordinates(x)


class ComponentDecoder(Decoder):
    """A network that predicts coordinates, and the items of these coordinates."""

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"components": whole(1, WIDEST), "decoder": NAMED}

    def __init__(self, network: nn.Module, shape: Size, number: int) -> None:
        super().__init__()
        self.network, self.basis = network, PrincipalComponents(shape, number)

    @classmethod
    def build(cls, place: Place, components: int = WIDEST, decoder: Any = "mlp") -> Self:
        number = min(components, place.shape.numel())
        network = build_decoder(Named.read(decoder), replace(place, shape=Size((number,))))
        return cls(network, place.shape, number)

    def prepare(self, data: Any, transform: Callable[[Tensor], Tensor]) -> None:
        super().prepare(data, transform)
        self.basis.take(data)

    def forward(self, code: Tensor) -> Tensor:
        return self.basis.items(self.network(code))
