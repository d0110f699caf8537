"""Likelihood: how a decoder's outputs score the data, and which networks suit the data's shape."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from torch import Size, Tensor, nn

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.face_trunk import FaceTrunk
from unknot.models.families.family import Family
from unknot.models.ink_frame import FramedTrunk
from unknot.models.networks import ImageDecoder, ImageTrunk, Trunk, VectorDecoder, VectorTrunk, mlp
from unknot.models.node_spec import NodeSpec, refuse_units
from unknot.models.posed_decoder import POSE, PosedDecoder
from unknot.models.principal_components import ComponentDecoder, ComponentTrunk
from unknot.models.product_decoder import Part, ProductDecoder
from unknot.models.two_trunks import TwoTrunks

_SMALL_IMAGE = 28 * 28  # up to here a perceptron draws images as well as convolutions, and faster


class Likelihood(nn.Module, ABC):
    """A data node of a given shape. ``site`` scores data (or, given none, shows what would be generated)."""

    name: ClassVar[str]  # in descriptions
    entrywise: ClassVar[bool] = True  # its networks give one number for each entry of the data
    takes_columns: ClassVar[bool] = False  # items are rows of a table, whose columns are described

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__()
        self.spec, self.shape, self.width = spec, shape, width

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        """Whether it is for data ``(N, ...)`` like these, or rows of a table; False: taken only where it is named."""
        return False

    @classmethod
    def check_node(cls, spec: NodeSpec) -> None:
        """Refuse a description that is no data node of this family."""
        refuse_units(spec)

    def trunk(self) -> Trunk:
        """The encoder's first network: data to ``features`` numbers."""
        if self.spec.encoder and len(self.shape) != 3:
            raise SpecError(
                f"node '{self.spec.name}': encoder {self.spec.encoder} is for images (C, H, W), but data is "
                f"{tuple(self.shape)}"
            )
        if self.spec.encoder == "faces":
            return FaceTrunk(self.shape)
        hidden = self.spec.recognition_hidden
        if self.spec.encoder == "apart":
            return TwoTrunks(self._convolutions(), VectorTrunk(self.shape, hidden or (self.width,)))
        if self.spec.encoder == "doubled":
            return TwoTrunks(self._convolutions(), ImageTrunk(self.shape, dropout=0.0))
        if self.spec.encoder == "framed":
            return TwoTrunks(FramedTrunk(self._convolutions()), self._convolutions())
        if self.spec.encoder == "components":
            return TwoTrunks(self._convolutions(), ComponentTrunk(self.shape, self._components))
        if len(self.shape) == 3 and not hidden:
            return self._convolutions()
        return VectorTrunk(self.shape, hidden or (self.width,))

    def decoder(self, inputs: int) -> nn.Module:
        """The generator's last network: parents' values to the parameters of the data."""
        if self.spec.components:
            hidden = self.spec.hidden or (self.width, self.width)
            made = VectorDecoder(inputs, self._made, hidden, self.spec.activation or "relu")
            return ComponentDecoder(made, self.shape, self._components)
        if len(self.shape) == 3 and math.prod(self.shape) > _SMALL_IMAGE and not self.spec.hidden:
            return ImageDecoder(inputs, self.shape, width=self.width)
        hidden = self.spec.hidden or (self.width, self.width)
        return VectorDecoder(inputs, self.shape, hidden, self.spec.activation or "relu")

    def head(self, inputs: int, hidden: Sequence[int], outputs: int) -> nn.Module:
        """An encoder's last network, for one node: features of the data and values of others to its parameters."""
        return mlp(inputs, hidden, outputs)

    def decoder_of(self, parents: Sequence[Family]) -> nn.Module | None:
        """A last network that takes the parents' values by name; None: :meth:`decoder`, which joins them."""
        if not self.spec.generator:
            return None
        if self.spec.generator == "posed":
            return self._posed(parents)
        width = self.spec.hidden[-1] if self.spec.hidden else self.width
        parts = [_part(one) for one in parents]
        product = ProductDecoder([one.value_size for one in parents], parts, self._made, width)
        return ComponentDecoder(product, self.shape, self._components) if self.spec.components else product

    @property
    def _components(self) -> int:
        """How many principal components: as many as are asked for, or as there are."""
        return min(self.spec.components, math.prod(self.shape))

    @property
    def _made(self) -> Size:
        """What a network makes: the data, or their coordinates."""
        return Size((self._components,)) if self.spec.components else self.shape

    def _posed(self, parents: Sequence[Family]) -> nn.Module:
        pose = parents[-1]
        if len(parents) < 2 or len(self.shape) != 3 or not pose.gaussian or pose.size != POSE:
            raise SpecError(
                f"node '{self.spec.name}': generator posed makes images (C, H, W) of two parents or more, the last of "
                f"them their pose, a normal node of size {POSE}, but the last is '{pose.spec.name}', "
                f"{pose.spec.family} of size {pose.size}, and data is {tuple(self.shape)}"
            )
        return PosedDecoder(self.decoder(sum(one.value_size for one in parents[:-1])), self.shape)

    def _convolutions(self) -> ImageTrunk:
        channels = self.spec.channels or (32, 64, 64)
        dropout = 0.2 if self.spec.dropout is None else self.spec.dropout
        return ImageTrunk(self.shape, channels, dropout, self.spec.pooled)

    @abstractmethod
    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        """Score x; with None, draw."""

    def possible(self, x: Tensor) -> Tensor:
        """Jittered items as items that can be: a brighter view may leave the range of the data."""
        return x

    @abstractmethod
    def mean(self, outputs: Tensor) -> Tensor:
        """The expected data, for pictures."""

    def draw(self, outputs: Tensor) -> Tensor:
        """Data drawn from the likelihood."""
        trace = Trace()
        self.site(trace, outputs, None, self.spec.name)
        drawn: Tensor = trace[self.spec.name].value
        return drawn


def _part(parent: Family) -> Part:
    """What a parent is to a generator that multiplies: a factor of classes or numbers, or what is left over."""
    if not parent.spec.labels:
        return "rest"
    return "classes" if parent.has_classes else "numbers"
