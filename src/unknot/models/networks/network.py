"""What every network of a model is: built for its place in the model, with options that its class declares.

There are three kinds. A :class:`Trunk` encodes the data, once per batch. A :class:`Head` makes the parameters of one
latent node from the trunk's features and the values of the node's parents. A :class:`Decoder` makes the parameters of a
node, or of the data, from the values of its generative parents. A class of the user's is derived from one of them and
chosen as ``encoder`` or ``decoder`` of a node, by ``package.module:Class`` or ``file.py:Class``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Size, Tensor, nn

from unknot.core.axes import cat
from unknot.errors import SpecError
from unknot.models.by_name import Named, check_options
from unknot.models.by_node import ByNode
from unknot.schema import Schema, text

if TYPE_CHECKING:
    from unknot.models.families.family import Family
    from unknot.models.graphical_model import GraphicalModel
    from unknot.models.likelihoods.likelihood import Likelihood
    from unknot.models.node_spec import NodeSpec


@dataclass(frozen=True)
class Place:
    """Where a network stands in a model, and the sizes that follow from it.

    Parameters
    ----------
    node : NodeSpec
        The node that the network belongs to.
    shape : torch.Size
        Of a trunk, the shape of an item; of a decoder, that of the parameters it makes; of a head, ``(parameters,)``.
    width : int
        The model's width of hidden layers.
    likelihood : Likelihood
        That of the data.
    parents : sequence of Family
        The latent nodes whose values the network takes, in order.
    trunk : Trunk or None
        Of a head that reads the data, what encodes them.
    """

    node: NodeSpec
    shape: Size
    width: int
    likelihood: Likelihood
    parents: Sequence[Family] = ()
    trunk: Trunk | None = None

    @property
    def inputs(self) -> int:
        """How many numbers the parents' values are for a network."""
        return sum(parent.value_size for parent in self.parents)

    def refuse(self, what: str) -> SpecError:
        """Return the error about this place."""
        return SpecError(f"node '{self.node.name}': {what}")

    def image_shape(self, what: str) -> tuple[int, int, int]:
        """Return the shape ``(C, H, W)``, or refuse data that are no images."""
        if len(self.shape) != 3:
            raise self.refuse(f"{what} is for images (C, H, W), but data is {tuple(self.shape)}")
        channels, height, width = self.shape
        return channels, height, width


class Network(nn.Module):
    """A network that a description can name.

    ``OPTIONS`` declares what options the class takes, each with its schema (:mod:`unknot.schema`); :meth:`build` gets
    them as keyword arguments.
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {}

    @classmethod
    def check(cls, named: Named, node: NodeSpec, nodes: Sequence[NodeSpec], where: str) -> None:
        """Refuse options that the class does not take, or a node that it cannot serve."""
        check_options(named, cls.OPTIONS, where)

    @classmethod
    def build(cls, place: Place, *args: Any, **options: Any) -> Network:
        """Return the network for its place; by default from the place itself."""
        return cls(place, *args, **options)

    def prepare(self, data: Any, transform: Callable[[Tensor], Tensor]) -> None:
        """Take from the training data what training starts from.

        Parameters
        ----------
        data : Dataset
            The training data, with the labels that may be seen.
        transform : callable
            From items as they are to items as the model sees them.
        """
        for child in self.children():
            for part in child.children() if isinstance(child, ByNode) else [child]:
                if isinstance(part, Network):
                    part.prepare(data, transform)


class Trunk(Network):
    """An encoder's first network: data to a vector of ``features`` numbers, run once per batch.

    ``parts`` names ranges of that vector, for nodes that should see only one of them.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features
        self.parts: dict[str, slice] = {}

    @classmethod
    def build(cls, place: Place, *args: Any, **options: Any) -> Trunk:
        """Return the network for its place; by default from the shape of an item."""
        return cls(place.shape, *args, **options)  # type: ignore[arg-type]

    def of_parts(self, wanted: Collection[str], x: Tensor) -> Tensor:
        """Return the features of x ``(B, H)``, of which only the named parts are needed ("": all)."""
        features: Tensor = self(x)
        return features


class Head(Network, ABC):
    """An encoder's last network for one node: features of the data and its parents' values to its parameters."""

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"part": text()}
    uses_features: ClassVar[bool] = True  # of the data, as its trunk makes them

    def __init__(self, place: Place, part: str = "") -> None:
        super().__init__()
        self.node, self.part = place.node.name, part
        self._slice = slice(None)
        self._data = place.likelihood.spec.name
        self.inputs = place.inputs
        if place.trunk is None:
            if part:
                raise place.refuse(f"part '{part}' is of the data, which the node is not inferred from")
            return
        if part and part not in place.trunk.parts:
            there = ", ".join(place.trunk.parts) or "no parts"
            raise place.refuse(f"the encoder sees the part '{part}', but the encoder of the data has {there}")
        self._slice = place.trunk.parts[part] if part else slice(0, place.trunk.features)
        self.inputs += int(self._slice.stop - self._slice.start)

    def joined(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return the features that the head sees and the values of the parents, joined."""
        return cat(
            [value[..., self._slice] if name == self._data else value for name, value in inputs.items()]
        )

    @classmethod
    def build(cls, place: Place, *args: Any, **options: Any) -> Head:
        """Return the network for its place; by default from the place itself."""
        return cls(place, *args, **options)

    @abstractmethod
    def forward(self, inputs: Mapping[str, Tensor], learn: bool = False) -> Tensor:
        """Return the node's parameters.

        Parameters
        ----------
        inputs : mapping from str to Tensor
            Features of the nodes that this one is inferred from, by name and in order; the trunk's for the data.
        learn : bool, default=False
            Whether running statistics may be updated.
        """

    def recognize(self, model: GraphicalModel, x: Tensor, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return the node's parameters in the model's encoder; ``x`` are the items as the model sees them."""
        outputs: Tensor = self(inputs, model.training)
        return outputs


class Decoder(Network):
    """A decoder's network for one node: the values of its generative parents to its parameters.

    A decoder takes the joined features of the parents' values in ``forward(code)``. One that treats its parents
    differently overrides :meth:`decode`.
    """

    @classmethod
    def build(cls, place: Place, *args: Any, **options: Any) -> Decoder:
        """Return the network for its place; by default from the number of its inputs and the shape it makes."""
        return cls(place.inputs, place.shape, *args, **options)

    def decode(self, features: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> Any:
        """Return the parameters, as the likelihood takes them.

        Parameters
        ----------
        features : mapping from str to Tensor
            The parents' values as networks see them, in order.
        values : mapping from str to Tensor
            The parents' values.
        """
        return self(cat(list(features.values())))

    def log_prior(self) -> Tensor | None:
        """Return an item's share of the log prior of the weights, if they have one."""
        return None
