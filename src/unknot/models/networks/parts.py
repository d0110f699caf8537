"""An encoder's first network in named parts, side by side: for instance what an image shows, and how it is drawn.

The style is what the decoder needs to make the pixels again. A shared network learns features for that, and the class
has to do with what is left. In a part of its own, the class has features that the decoder does not change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from unknot.errors import SpecError
from unknot.models.by_name import NAMED, Named
from unknot.models.by_node import ByNode
from unknot.models.networks.network import Place, Trunk
from unknot.models.networks.registry import build_trunk, check_trunk
from unknot.models.node_spec import NodeSpec
from unknot.schema import check, table_of


class Parts(Trunk):
    """Data through several networks, whose features are joined; each is a part that a node may choose.

    Every option is a part: its name, and the network of it. With ``encoder: {name: parts, shapes: {name: conv},
    pixels: {name: mlp, hidden: [400]}}`` of the data, a node with ``encoder: {name: mlp, part: shapes}`` is inferred
    from the convolutions alone.

    >>> from torch import Size
    >>> from unknot.models.networks.conv import ImageTrunk
    >>> from unknot.models.networks.mlp import VectorTrunk
    >>> shape = Size((1, 8, 8))
    >>> trunk = Parts({"shapes": ImageTrunk(shape, (4, 8)), "pixels": VectorTrunk(shape, [16])})
    >>> trunk.parts["pixels"], trunk(torch.rand(5, 1, 8, 8)).shape
    (slice(32, 48, None), torch.Size([5, 48]))
    """

    def __init__(self, trunks: Mapping[str, Trunk]) -> None:
        super().__init__(sum(trunk.features for trunk in trunks.values()))
        self.networks = ByNode(trunks)
        start = 0
        for name, trunk in trunks.items():
            self.parts[name] = slice(start, start + trunk.features)
            start += trunk.features

    @classmethod
    def check(cls, named: Named, node: NodeSpec, nodes: Sequence[NodeSpec], where: str) -> None:
        if len(named.options) < 2:
            raise SpecError(f"{where}: '{named.name}' needs at least two parts, each a name and its encoder.")
        check(dict(named.options), table_of(NAMED, "a table of parts, each with its encoder"), where)
        for part, described in named.options.items():
            check_trunk(Named.read(described), node, nodes, f"{where}.{part}")

    @classmethod
    def build(cls, place: Place, **parts: Any) -> Self:
        return cls({name: build_trunk(Named.read(one), place) for name, one in parts.items()})

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.networks[name](x) for name in self.parts], -1)

    def of_parts(self, wanted: Collection[str], x: Tensor) -> Tensor:
        if "" in wanted or len(set(wanted)) != 1:
            return self(x)
        (name,) = set(wanted)
        here = self.parts[name]
        return pad(self.networks[name](x), (here.start, self.features - here.stop))
