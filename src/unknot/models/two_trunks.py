"""An encoder's first network in two, side by side: one for what an image shows, one for how it is drawn.

The style is what the generator needs to make the pixels again. A trunk that is shared learns features for that, and the
class has to do with what is left; apart, nothing that the generator asks for can spoil the reading of the class.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor
from torch.nn.functional import pad

from unknot.models.networks import Trunk

SHAPES, PIXELS = "shapes", "pixels"  # the two parts of the features


class TwoTrunks(Trunk):
    """Images ``(C, H, W)`` through convolutions (*shapes*) and, apart from these, through another network (*pixels*).

    A perceptron is quick; convolutions of their own read the style more exactly, to be asked for when a factor is
    changed and the style should stay.

    >>> from unknot.models.networks import ImageTrunk, VectorTrunk
    >>> size = torch.Size((1, 8, 8))
    >>> trunk = TwoTrunks(ImageTrunk(size, (4, 8)), VectorTrunk(size, [16]))
    >>> trunk.parts[PIXELS], trunk(torch.rand(5, 1, 8, 8)).shape
    (slice(32, 48, None), torch.Size([5, 48]))
    """

    def __init__(self, shapes: Trunk, pixels: Trunk) -> None:
        super().__init__(shapes.features + pixels.features)
        self.shapes, self.pixels = shapes, pixels
        self.parts = {SHAPES: slice(0, shapes.features), PIXELS: slice(shapes.features, self.features)}

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.shapes(x), self.pixels(x)], -1)

    def of_parts(self, wanted: Collection[str], x: Tensor) -> Tensor:
        if set(wanted) == {SHAPES}:
            return pad(self.shapes(x), (0, self.pixels.features))
        if set(wanted) == {PIXELS}:
            return pad(self.pixels(x), (self.shapes.features, 0))
        return self(x)
