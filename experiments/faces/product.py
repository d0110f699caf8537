"""A generator in which the named factors act on each other: what one makes is multiplied by what the others make.

A face under a light is, to first order, a person's surface times the light on it; a sum of both, which the first layer
of a perceptron makes, has to learn every product by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import torch
from torch import Size, Tensor, nn

from unknot.models.families import Family
from unknot.models.networks.mlp import WIDEST, mlp
from unknot.models.networks.network import Decoder, Place
from unknot.schema import Schema, whole

Part = Literal["classes", "numbers", "rest"]
_OWN = 128  # units of the hidden layer that numbers go through


class ProductDecoder(Decoder):
    """``u = Π_i f_i(factor i) · Π_j (1 + g_j(rest j))``, then the data linearly from u and from one layer over u.

    f of classes is linear, so that each class has a vector of its own; f of numbers and g have a hidden layer. Factors
    multiply, the rest changes what they make: where g is zero it leaves u as it is.

    Arguments:
        sizes: numbers of each parent, in the order in which they come.
        parts: what each parent is: "classes" or "numbers" of a factor, or "rest".
        shape: of the data.
        width: entries of u.

    >>> ProductDecoder([10, 3], ["classes", "numbers"], Size((1, 8, 8)), 32)(torch.zeros(5, 7, 13)).shape
    torch.Size([5, 7, 1, 8, 8])
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"width": whole(1, WIDEST)}

    def __init__(self, sizes: Sequence[int], parts: Sequence[Part], shape: Size, width: int) -> None:
        super().__init__()
        self.sizes, self.parts, self.shape = list(sizes), tuple(parts), tuple(shape)
        self.parents = nn.ModuleList(
            mlp(size, () if part == "classes" else (_OWN,), width)
            for size, part in zip(sizes, parts, strict=True)
        )
        self.layer = nn.Linear(width, width)
        self.data = nn.Linear(2 * width, math.prod(shape))

    @classmethod
    def build(cls, place: Place, width: int | None = None) -> Self:
        sizes = [one.value_size for one in place.parents]
        return cls(sizes, [_part(one) for one in place.parents], place.shape, width or place.width)

    def forward(self, code: Tensor) -> Tensor:
        product = self.product(code)
        flat = self.data(torch.cat([product, self.layer(product).relu()], -1))
        return flat.reshape(*flat.shape[:-1], *self.shape)

    def product(self, code: Tensor) -> Tensor:
        """u ``(..., width)`` of the parents' values behind each other, ``(..., sum of sizes)``."""
        found = torch.ones((), dtype=code.dtype, device=code.device)
        for network, part, value in zip(self.parents, self.parts, code.split(self.sizes, -1), strict=True):
            made = network(value)
            found = found * (1 + made if part == "rest" else made)
        return found


def _part(parent: Family) -> Part:
    """Whether a parent is a factor of classes, a factor of numbers, or the rest."""
    if not parent.spec.labels:
        return "rest"
    return "classes" if parent.has_classes else "numbers"
