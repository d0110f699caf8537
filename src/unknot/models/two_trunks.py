"""A recogniser's first network in two, side by side: one for what an image shows, one for how it is drawn.

The style is what the generator needs to make the pixels again. A trunk that is shared learns features for that, and the
class has to do with what is left; apart, nothing that the generator asks for can spoil the reading of the class.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Size, Tensor

from unknot.models.networks import ImageTrunk, Trunk, VectorTrunk

SHAPES, PIXELS = "shapes", "pixels"  # the two parts of the features


class TwoTrunks(Trunk):
    """Images ``(C, H, W)`` through convolutions (*shapes*) and, apart from these, through a perceptron (*pixels*).

    >>> trunk = TwoTrunks(ImageTrunk(Size((1, 8, 8)), (4, 8)), Size((1, 8, 8)), [16])
    >>> trunk.parts[PIXELS], trunk(torch.rand(5, 1, 8, 8)).shape
    (slice(32, 48, None), torch.Size([5, 48]))
    """

    def __init__(self, shapes: ImageTrunk, shape: Size, hidden: Sequence[int]) -> None:
        pixels = VectorTrunk(shape, hidden)
        super().__init__(shapes.features + pixels.features)
        self.shapes, self.pixels = shapes, pixels
        self.parts = {SHAPES: slice(0, shapes.features), PIXELS: slice(shapes.features, self.features)}

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.shapes(x), self.pixels(x)], -1)
