"""Networks for faces: a decoder with products of factors, and features of edges and brightness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import avg_pool2d, conv2d, pad

from unknot.models.families import Family
from unknot.models.networks.mlp import WIDEST, layers, mlp
from unknot.models.networks.network import Decoder, Place, Trunk
from unknot.schema import Schema, whole

Part = Literal["classes", "numbers", "rest"]
_OWN = 128  # units of the hidden layer of f for numbers


class ProductDecoder(Decoder):
    """``u = Π_i f_i(factor i) · Π_j (1 + g_j(rest j))``, then the data linearly from u and from one layer over u.

    f of classes is linear; f of numbers and g have a hidden layer. A face under a light is, to first order, a product
    of surface and light; a perceptron of both has to learn every product.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of each parent.
    parts : sequence of {"classes", "numbers", "rest"}
        The kind of each parent.
    shape : Size
        Shape of the data.
    width : int
        Entries of u.

    Examples
    --------
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
        """Return u ``(..., width)`` of the concatenated values of the parents, ``(..., sum of sizes)``."""
        found = torch.ones((), dtype=code.dtype, device=code.device)
        for network, part, value in zip(self.parents, self.parts, code.split(self.sizes, -1), strict=True):
            output = network(value)
            found = found * (1 + output if part == "rest" else output)
        return found


def _part(parent: Family) -> Part:
    """Return whether a parent is a factor of classes, a factor of numbers, or the rest."""
    if not parent.spec.labels:
        return "rest"
    return "classes" if parent.has_classes else "numbers"


SHAPE, SHADE = "shape", "shade"  # the two parts of the features
_BLUR = (0.0545, 0.2442, 0.4026, 0.2442, 0.0545)  # a Gaussian of one pixel
_SMALL = 1e-3  # edges weaker than this have no direction
_QUIET = 0.1  # scale of the thousands of edge features, for small steps of the classifier
_HIDDEN = 256


class FaceTrunk(Trunk):
    """Features of gray images ``(1, H, W)``: standardized directions of edges (*shape*), and convolutions over the
    brightness at half resolution (*shade*).

    The direction of the gradient of an image depends little on the light, unlike its norm (Chen et al. 2000).
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"channels": layers(1)}

    def __init__(self, shape: Size, channels: Sequence[int] = (32, 64, 64)) -> None:
        _, height, width = shape
        directions = 2 * height * width
        super().__init__(directions + _HIDDEN)
        self.parts = {SHAPE: slice(0, directions), SHADE: slice(directions, directions + _HIDDEN)}
        self.register_buffer("blur", torch.tensor(_BLUR), persistent=False)
        self.blur: Tensor
        self.standard = nn.BatchNorm1d(directions, affine=False)
        self.shade = _shade_network(height // 2, width // 2, channels)

    def forward(self, x: Tensor) -> Tensor:
        edges = _QUIET * self.standard(self.edge_directions(x).flatten(1))  # (B, 2 H W)
        half = avg_pool2d(x, 2)
        # relative to the mean brightness of the image; and the root, for the dark side of a face
        relative = 0.5 * half / (half.mean((1, 2, 3), keepdim=True) + 0.02)
        views = torch.cat([relative, half.clamp_min(0).sqrt()], 1)  # (B, 2, H/2, W/2)
        return torch.cat([edges, self.shade(views.contiguous(memory_format=torch.channels_last))], 1)

    def edge_directions(self, x: Tensor) -> Tensor:
        """Return unit vectors ``(B, 2, H, W)`` along the gradient of the blurred image ``(B, 1, H, W)``."""
        side = len(_BLUR) // 2
        smooth = pad(x, (side, side, side, side), mode="reflect")
        smooth = conv2d(conv2d(smooth, self.blur.view(1, 1, 1, -1)), self.blur.view(1, 1, -1, 1))
        across = pad(smooth[..., :, 2:] - smooth[..., :, :-2], (1, 1, 0, 0))
        down = pad(smooth[..., 2:, :] - smooth[..., :-2, :], (0, 0, 1, 1))
        return torch.cat([across, down], 1) / ((across**2 + down**2).sqrt() + _SMALL)


def _shade_network(height: int, width: int, channels: Sequence[int]) -> nn.Module:
    layers: list[nn.Module] = []
    inputs = 2
    for depth, outputs in enumerate(channels):
        kernel = 5 if depth == 0 else 3
        layers += [
            nn.Conv2d(inputs, outputs, kernel, 2, kernel // 2, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]
        inputs, height, width = outputs, (height + 1) // 2, (width + 1) // 2
    layers += [nn.Flatten(), nn.Linear(inputs * height * width, _HIDDEN), nn.BatchNorm1d(_HIDDEN), nn.ReLU()]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
