"""Multilayer perceptrons: of data, of the parameters of a node, and of what the parents of a node make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from torch import Size, Tensor, nn

from unknot.models.by_name import Named
from unknot.models.families.concrete import ConcreteFamily
from unknot.models.networks.network import Decoder, Head, Place, Trunk
from unknot.models.networks.whitening import Whitening, check_whitening
from unknot.models.node_spec import NodeSpec
from unknot.schema import Schema, choice, list_of, text, whole

WIDEST = 1 << 14  # of a layer; two such layers in a row have a gigabyte of weights
ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


def layers(fewest: int = 0) -> Schema:
    """Return the schema of a list of layers' widths."""
    words = f"a list of layers, each a whole number from 1 to {WIDEST}"
    return list_of(whole(1, WIDEST), fewest, words=words)


def mlp(
    inputs: int, hidden: Sequence[int], outputs: int, dropout: float = 0.0, activation: str = "relu"
) -> nn.Sequential:
    """Linear layers with an activation between them, one of :data:`ACTIVATIONS`; none at the end.

    >>> import torch
    >>> mlp(784, [256], 10)(torch.zeros(5, 128, 784)).shape
    torch.Size([5, 128, 10])
    """
    modules: list[nn.Module] = []
    for width in hidden:
        modules += [nn.Linear(inputs, width), ACTIVATIONS[activation]()]
        if dropout:
            modules.append(nn.Dropout(dropout))
        inputs = width
    return nn.Sequential(*modules, nn.Linear(inputs, outputs))


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


class VectorTrunk(Trunk):
    """Data of any shape, flattened, through hidden layers (S17's MNIST encoder has one).

    Counts and tables have a first layer of their own (:meth:`Likelihood.vector_trunk`).
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"hidden": layers(1)}

    def __init__(self, shape: Size, hidden: Sequence[int]) -> None:
        super().__init__(hidden[-1])
        self.event_dims = len(shape)
        self.network = nn.Sequential(mlp(math.prod(shape), hidden[:-1], hidden[-1]), nn.ReLU())

    @classmethod
    def build(cls, place: Place, hidden: Sequence[int] = (), **options: Any) -> Trunk:
        return place.likelihood.vector_trunk(hidden or None)

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x.flatten(-self.event_dims) if self.event_dims else x.unsqueeze(-1))


class VectorHead(Head):
    """A perceptron over the features of the data and the values of the parents; with ``whiten``, whitened.

    A node that is inferred from the data alone has no hidden layer of its own unless ``hidden`` says so.
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {**Head.OPTIONS, "hidden": layers(), "whiten": text()}

    def __init__(
        self, place: Place, hidden: Sequence[int] | None = None, part: str = "", whiten: str = ""
    ) -> None:
        super().__init__(place, part)
        if hidden is None:
            hidden = (place.width // 2,) if place.parents else ()
        self.network = mlp(self.inputs, hidden, place.shape.numel())
        self.whiten, self.white, self._classes = whiten, None, {}
        if whiten:
            classes = next(one for one in place.parents if one.spec.name == whiten)
            assert isinstance(classes, ConcreteFamily)
            self._classes = {
                whiten: classes
            }  # in a dictionary: it is a module of the model's, not of this one
            assert place.node.size is not None
            self.white = Whitening(classes.size, place.node.size)

    @classmethod
    def build(cls, place: Place, **options: Any) -> Self:
        return cls(place, **options)

    @classmethod
    def check(cls, named: Named, node: NodeSpec, nodes: Sequence[NodeSpec], where: str) -> None:
        super().check(named, node, nodes, where)
        if named.options.get("whiten"):
            check_whitening(node, named.options["whiten"], nodes)

    def forward(self, inputs: Mapping[str, Tensor], learn: bool = False) -> Tensor:
        outputs: Tensor = self.network(self.joined(inputs))
        if self.white is None:
            return outputs
        y = self._classes[self.whiten].from_features(inputs[self.whiten])
        return self.white.run(outputs, y, learn)


class VectorDecoder(Decoder):
    """A vector to data of any shape, or to the parameters of a node, by a perceptron."""

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"hidden": layers(), "activation": choice(ACTIVATIONS)}

    def __init__(self, inputs: int, shape: Size, hidden: Sequence[int], activation: str = "relu") -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.network = mlp(inputs, hidden, math.prod(shape), activation=activation)

    @classmethod
    def build(cls, place: Place, hidden: Sequence[int] | None = None, activation: str = "relu") -> Self:
        if hidden is None:
            hidden = (place.width, place.width) if place.node.is_data else (place.width // 2,)
        return cls(place.inputs, place.shape, hidden, activation)

    def forward(self, code: Tensor) -> Tensor:
        flat = self.network(code)
        return flat.reshape(*flat.shape[:-1], *self.shape)
