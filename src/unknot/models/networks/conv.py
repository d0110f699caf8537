"""Convolutions: images to features, and codes to images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import torch
from torch import Size, Tensor, nn

from unknot.models.networks.mlp import LeadingAxes, layers, mlp
from unknot.models.networks.network import Decoder, Place, Trunk
from unknot.schema import Schema, flag, number


class ImageTrunk(Trunk):
    """Images ``(C, H, W)`` through convolutions with batch norm, flattened.

    Each layer halves the image: ``pooled=False`` by the convolution's own stride, a small and fast encoder;
    ``pooled=True`` by the largest of 2 x 2 after the convolution (the first still strides), which looks at more
    and costs about four times as much.
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {
        "channels": layers(1),
        "pooled": flag(),
        "dropout": number(0, 0.99),
    }

    def __init__(
        self, shape: Size, channels: Sequence[int] = (32, 64, 64), dropout: float = 0.2, pooled: bool = False
    ) -> None:
        modules: list[nn.Module] = []
        inputs, height, width = shape
        for depth, outputs in enumerate(channels):
            kernel = 5 if depth == 0 else 3
            stride = 1 if pooled and depth > 0 else 2
            modules += [
                nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
            if stride == 1:
                modules.append(nn.MaxPool2d(2, ceil_mode=True))
            inputs, height, width = outputs, (height + 1) // 2, (width + 1) // 2
        modules += [nn.Flatten(), nn.Dropout(dropout)]
        super().__init__(inputs * height * width)
        convolutions = nn.Sequential(*modules)
        # colors last in memory: convolutions with batch norm take two thirds of the time on a CPU
        self.network = LeadingAxes(convolutions.to(memory_format=torch.channels_last), event_dims=3)  # type: ignore[call-overload]

    @classmethod
    def build(
        cls, place: Place, channels: Sequence[int] = (32, 64, 64), dropout: float = 0.2, pooled: bool = False
    ) -> Self:
        return cls(Size(place.image_shape("encoder conv")), channels, dropout, pooled)

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x)


class ImageDecoder(Decoder):
    """A vector to an image ``(C, H, W)`` by transposed convolutions: the reverse of :class:`ImageTrunk`."""

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"channels": layers(1)}

    def __init__(
        self, inputs: int, shape: Size, channels: Sequence[int] = (64, 32), width: int = 256
    ) -> None:
        super().__init__()
        colors, height, self.width = shape
        self.height = height
        factor = 2 ** len(channels)
        self.start = (channels[0], -(-height // factor), -(-self.width // factor))
        modules: list[nn.Module] = [mlp(inputs, [width], math.prod(self.start)), nn.ReLU()]
        modules.append(nn.Unflatten(-1, self.start))
        outputs = [*channels[1:], colors]
        for depth, (one, two) in enumerate(zip(channels, outputs, strict=True)):
            modules.append(nn.ConvTranspose2d(one, two, 4, stride=2, padding=1))
            if depth < len(channels) - 1:
                modules.append(nn.ReLU())
        self.network = LeadingAxes(nn.Sequential(*modules), event_dims=1)

    @classmethod
    def build(cls, place: Place, channels: Sequence[int] = (64, 32)) -> Self:
        shape = Size(place.image_shape("decoder conv"))
        return cls(place.inputs, shape, channels, place.width)

    def forward(self, code: Tensor) -> Tensor:
        return self.network(code)[..., : self.height, : self.width]
