"""Rows of a table."""

from __future__ import annotations

from torch import Size, Tensor, nn

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.networks import Trunk, VectorDecoder
from unknot.models.node_spec import NodeSpec
from unknot.models.table import Table, TableTrunk


class TableLikelihood(Likelihood):
    """Columns of several kinds, with missing entries."""

    name = "table"
    entrywise = False
    takes_columns = True

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return table

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        if not spec.columns:
            raise SpecError(f"node '{spec.name}': a table needs columns")
        self.table = Table(spec.columns)
        if tuple(shape) != (len(spec.columns),):
            raise SpecError(
                f"node '{spec.name}': {len(spec.columns)} columns are described, but rows have {shape[0]}"
            )

    def trunk(self) -> Trunk:
        return TableTrunk(self.table, self.spec.recognition_hidden or (self.width,))

    def decoder(self, inputs: int) -> nn.Module:
        hidden = self.spec.hidden or (self.width, self.width)
        return VectorDecoder(inputs, Size((self.table.parameters_size,)), hidden)

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.loss(self.table.negative_log_likelihood, outputs, x, name=name)

    def mean(self, outputs: Tensor) -> Tensor:
        return self.table.mean(outputs)

    def draw(self, outputs: Tensor) -> Tensor:
        return self.table.draw(outputs)
