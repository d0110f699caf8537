"""Networks for sparse images that are fast on a CPU: blocks of 4 x 4 pixels become channels first and last.

Most of the cost of convolutions on 64 x 64 pixels is in the layers with the finest grid. Here the finest grid is a
quarter of the image.
"""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Size, Tensor, nn

from unknot.models.networks.mlp import LeadingAxes
from unknot.models.networks.network import Decoder, Place, Trunk

BLOCK, CHANNELS, HIDDEN = 4, (32, 64, 64), 256


def _grid(shape: Size) -> tuple[int, int]:
    """Return the grid of the coarsest layer, a sixteenth of the image."""
    return shape[1] // (4 * BLOCK), shape[2] // (4 * BLOCK)


class ShuffledTrunk(Trunk):
    """Images (C, H, W), whose sides are multiples of 16, to 256 features.

    >>> ShuffledTrunk(Size((1, 64, 64)))(torch.zeros(2, 1, 64, 64)).shape
    torch.Size([2, 256])
    """

    def __init__(self, shape: Size) -> None:
        super().__init__(HIDDEN)
        first, second, last = CHANNELS
        convolutions = nn.Sequential(
            nn.PixelUnshuffle(BLOCK),
            nn.Conv2d(shape[0] * BLOCK**2, first, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(first, second, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(second, last, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(last * math.prod(_grid(shape)), HIDDEN),
            nn.ReLU(),
        )
        self.network = LeadingAxes(convolutions.to(memory_format=torch.channels_last), event_dims=3)  # type: ignore[call-overload]

    @classmethod
    def build(cls, place: Place) -> Self:
        return cls(Size(place.image_shape("ShuffledTrunk")))

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.network(x)
        return features


class ShuffledDecoder(Decoder):
    """A vector to an image (C, H, W), whose sides are multiples of 16: the reverse of :class:`ShuffledTrunk`.

    >>> ShuffledDecoder(13, Size((1, 64, 64)))(torch.zeros(5, 2, 13)).shape
    torch.Size([5, 2, 1, 64, 64])
    """

    def __init__(self, inputs: int, shape: Size) -> None:
        super().__init__()
        first, second, last = CHANNELS
        start = (last, *_grid(shape))
        self.network = LeadingAxes(
            nn.Sequential(
                nn.Linear(inputs, HIDDEN),
                nn.ReLU(),
                nn.Linear(HIDDEN, math.prod(start)),
                nn.ReLU(),
                nn.Unflatten(-1, start),
                nn.ConvTranspose2d(last, second, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.ConvTranspose2d(second, first, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.Conv2d(first, shape[0] * BLOCK**2, 3, padding=1),
                nn.PixelShuffle(BLOCK),
            ),
            event_dims=1,
        )

    @classmethod
    def build(cls, place: Place) -> Self:
        return cls(place.inputs, Size(place.image_shape("ShuffledDecoder")))

    def forward(self, code: Tensor) -> Tensor:
        image: Tensor = self.network(code)
        return image
