"""Likelihood: how a decoder's outputs score the data, and which networks suit the data by default."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Size, Tensor, nn

from unknot.core.trace import Trace
from unknot.models.by_name import Named, check_options
from unknot.models.families.family import Family
from unknot.models.networks.mlp import VectorTrunk
from unknot.models.networks.network import Trunk
from unknot.models.node_spec import NodeSpec, check_prior
from unknot.schema import Schema

_SMALL_IMAGE = 28 * 28  # up to here a perceptron draws images as well as convolutions, and faster


class Likelihood(nn.Module, ABC):
    """A data node of a given shape: ``site`` scores data, or draws it.

    Parameters
    ----------
    spec : NodeSpec
        The data node.
    shape : torch.Size
        The shape of one item.
    width : int
        The width of default hidden layers.
    """

    name: ClassVar[str]  # in descriptions
    OPTIONS: ClassVar[Mapping[str, Schema]] = {}  # of ``family: {name: ..., option: ...}``
    entrywise: ClassVar[bool] = True  # its networks give one number for each entry of the data
    takes_columns: ClassVar[bool] = False  # items are rows of a table, whose columns are described

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__()
        self.spec, self.shape, self.width = spec, shape, width
        self.options = dict(spec.family.options)

    # ---- facts, from a description alone --------------------------------------------------------------

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        """Whether it is the default for data ``(N, ...)``, or for rows of a table; False: only by name."""
        return False

    @classmethod
    def check_node(cls, spec: NodeSpec) -> None:
        """Refuse a description that is no data node of this family."""
        check_options(spec.family, cls.OPTIONS, f"model.nodes.{spec.name}.family")
        check_prior(spec, {})

    @classmethod
    def check_items(cls, spec: NodeSpec, x: Tensor) -> None:
        """Refuse new items that cannot be data of this node."""

    # ---- networks, where the description names none ---------------------------------------------------

    @property
    def parameters_shape(self) -> Size:
        """The shape of the parameters that a decoder makes for one item."""
        return self.shape

    def default_trunk(self) -> Named:
        """Return the name of the data's encoder."""
        return Named("conv" if len(self.shape) == 3 else "mlp")

    def default_head(self) -> Named:
        """Return the name of a latent node's encoder."""
        return Named("mlp")

    def default_decoder(self, parents: Sequence[Family]) -> Named:
        """Return the name of the data's decoder."""
        return Named("conv" if len(self.shape) == 3 and math.prod(self.shape) > _SMALL_IMAGE else "mlp")

    def vector_trunk(self, hidden: Sequence[int] | None) -> Trunk:
        """Return a perceptron that encodes data of this kind, by default with one hidden layer."""
        return VectorTrunk(self.shape, hidden or (self.width,))

    # ---- the data -------------------------------------------------------------------------------------

    def prepare(self, data: Any) -> None:
        """Take from the training data what training starts from."""

    def transform(self, x: Tensor) -> Tensor:
        """Return items as the encoder sees them and the decoder scores them."""
        return x

    @abstractmethod
    def site(self, trace: Trace, outputs: Any, x: Tensor | None, name: str) -> None:
        """Score x; with None, draw."""

    def possible(self, x: Tensor) -> Tensor:
        """Return augmented items as items that can be scored: a brighter view may leave the range of the data."""
        return x

    @abstractmethod
    def mean(self, outputs: Any) -> Tensor:
        """Return the expected data, for pictures."""

    def draw(self, outputs: Any) -> Tensor:
        """Return data drawn from the likelihood."""
        trace = Trace()
        self.site(trace, outputs, None, self.spec.name)
        drawn: Tensor = trace[self.spec.name].value
        return drawn
