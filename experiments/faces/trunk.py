"""An encoder's first network for faces under changing light: two ways to look at an image, side by side.

Where edges lie and which way they run belongs to the person; how bright each side is belongs to the light. A network
that is given both mixed has to find that out from labels; with six labels a person it does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import avg_pool2d, conv2d, pad

from unknot.models.networks.mlp import layers
from unknot.models.networks.network import Trunk
from unknot.schema import Schema

SHAPE, SHADE = "shape", "shade"  # the two parts of the features
_BLUR = (0.0545, 0.2442, 0.4026, 0.2442, 0.0545)  # a Gaussian of one pixel
_SMALL = 1e-3  # edges weaker than this have no direction
_QUIET = 0.1  # thousands of features drive one classifier: small ones, so that each of its steps is small
_HIDDEN = 256


class FaceTrunk(Trunk):
    """Gray images ``(1, H, W)``: directions of their edges, standardized (*shape*), and a small convolutional
    network over their brightness at half size (*shade*).

    The direction of an image's gradient changes little with the light, unlike its size (Chen et al. 2000).
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
        # against the image's own brightness, for dim and bright pictures; and its root, for the dark side of a face
        relative = 0.5 * half / (half.mean((1, 2, 3), keepdim=True) + 0.02)
        views = torch.cat([relative, half.clamp_min(0).sqrt()], 1)  # (B, 2, H/2, W/2)
        return torch.cat([edges, self.shade(views.contiguous(memory_format=torch.channels_last))], 1)

    def edge_directions(self, x: Tensor) -> Tensor:
        """``(B, 1, H, W) -> (B, 2, H, W)``: unit vectors along the gradient of the slightly blurred image."""
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
