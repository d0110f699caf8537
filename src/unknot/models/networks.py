"""Network blocks: multilayer perceptrons and convolutions that run on any leading axes."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import torch
from torch import Size, Tensor, nn

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


def mlp(
    inputs: int, hidden: Sequence[int], outputs: int, dropout: float = 0.0, activation: str = "relu"
) -> nn.Sequential:
    """Linear layers with an activation between them, one of :data:`ACTIVATIONS`; none at the end.

    >>> mlp(784, [256], 10)(torch.zeros(5, 128, 784)).shape
    torch.Size([5, 128, 10])
    """
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [nn.Linear(inputs, width), ACTIVATIONS[activation]()]
        if dropout:
            layers.append(nn.Dropout(dropout))
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


class LeadingAxes(nn.Module):
    """Runs a network for ``(B, event...)`` on inputs with any leading axes, by folding them into one."""

    def __init__(self, network: nn.Module, event_dims: int) -> None:
        super().__init__()
        self.network = network
        self.event_dims = event_dims

    def forward(self, x: Tensor) -> Tensor:
        leading = x.shape[: x.ndim - self.event_dims]
        if len(leading) == 1:
            return self.network(x)
        folded = self.network(x.reshape(-1, *x.shape[x.ndim - self.event_dims :]))  # (S*B, ...)
        return folded.reshape(leading + folded.shape[1:])


class Trunk(nn.Module):
    """The first network of an encoder: data to a vector of ``features`` numbers, run once per batch.

    ``parts`` names stretches of that vector, for nodes that should see only one of them.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features
        self.parts: dict[str, slice] = {}

    def of_parts(self, wanted: Collection[str], x: Tensor) -> Tensor:
        """The features of x ``(B, H)``, of which only the named parts matter ("": all); others need not be computed."""
        features: Tensor = self(x)
        return features


class VectorTrunk(Trunk):
    """Data of any shape, flattened, through one hidden layer (S17's MNIST encoder)."""

    def __init__(self, shape: Size, hidden: Sequence[int]) -> None:
        super().__init__(hidden[-1])
        self.event_dims = len(shape)
        self.network = nn.Sequential(mlp(math.prod(shape), hidden[:-1], hidden[-1]), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x.flatten(-self.event_dims) if self.event_dims else x.unsqueeze(-1))


class ImageTrunk(Trunk):
    """Images ``(C, H, W)`` through convolutions with batch norm, flattened.

    Each layer halves the image: ``pooled=False`` by the convolution's own stride, a small and fast encoder;
    ``pooled=True`` by the largest of 2 x 2 after the convolution (the first still strides), which looks at more
    and costs about four times as much.
    """

    def __init__(
        self, shape: Size, channels: Sequence[int] = (32, 64, 64), dropout: float = 0.2, pooled: bool = False
    ) -> None:
        layers: list[nn.Module] = []
        inputs, height, width = shape
        for depth, outputs in enumerate(channels):
            kernel = 5 if depth == 0 else 3
            stride = 1 if pooled and depth > 0 else 2
            layers += [
                nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
            if stride == 1:
                layers.append(nn.MaxPool2d(2, ceil_mode=True))
            inputs, height, width = outputs, (height + 1) // 2, (width + 1) // 2
        layers += [nn.Flatten(), nn.Dropout(dropout)]
        super().__init__(inputs * height * width)
        convolutions = nn.Sequential(*layers)
        # colors last in memory: convolutions with batch norm take two thirds of the time on a CPU
        self.network = LeadingAxes(convolutions.to(memory_format=torch.channels_last), event_dims=3)  # type: ignore[call-overload]

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x)


class ImageDecoder(nn.Module):
    """A vector to an image ``(C, H, W)`` by transposed convolutions: the reverse of :class:`ImageTrunk`."""

    def __init__(
        self, inputs: int, shape: Size, channels: Sequence[int] = (64, 32), width: int = 256
    ) -> None:
        super().__init__()
        colors, height, self.width = shape
        self.height = height
        factor = 2 ** len(channels)
        self.start = (channels[0], -(-height // factor), -(-self.width // factor))
        layers: list[nn.Module] = [mlp(inputs, [width], math.prod(self.start)), nn.ReLU()]
        layers.append(nn.Unflatten(-1, self.start))
        outputs = [*channels[1:], colors]
        for depth, (one, two) in enumerate(zip(channels, outputs, strict=True)):
            layers.append(nn.ConvTranspose2d(one, two, 4, stride=2, padding=1))
            if depth < len(channels) - 1:
                layers.append(nn.ReLU())
        self.network = LeadingAxes(nn.Sequential(*layers), event_dims=1)

    def forward(self, code: Tensor) -> Tensor:
        return self.network(code)[..., : self.height, : self.width]


class VectorDecoder(nn.Module):
    """A vector to data of any shape by a perceptron."""

    def __init__(self, inputs: int, shape: Size, hidden: Sequence[int], activation: str = "relu") -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.network = mlp(inputs, hidden, math.prod(shape), activation=activation)

    def forward(self, code: Tensor) -> Tensor:
        flat = self.network(code)
        return flat.reshape(*flat.shape[:-1], *self.shape)
