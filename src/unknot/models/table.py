"""Tables: columns of several kinds in one array, with NaN for what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot, softplus

from unknot.errors import SpecError
from unknot.models.networks import Trunk, VectorTrunk

KINDS = ("real", "binary", "category", "count")


class Table(nn.Module):
    """A table's columns: ``{"name", "kind", "size" (of a category), "mean" and "sd" (of a real column)}``.

    As a module it turns rows ``(B, C)`` into features: reals standardized, categories one-hot, counts by
    logarithm, a missing entry as zero, and for each column a flag that it is missing. An entry that is missing
    contributes nothing to the likelihood: it is marginalized, since columns are independent given the code.
    """

    def __init__(self, columns: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        for column in columns:
            if column.get("kind") not in KINDS:
                raise SpecError(
                    f"column '{column.get('name')}': kind is one of {', '.join(KINDS)}, not {column.get('kind')!r}"
                )
            if column["kind"] == "category" and not column.get("size"):
                raise SpecError(
                    f"column '{column.get('name')}': a category needs a size, its number of classes"
                )
        self.columns = [dict(column) for column in columns]
        self.widths = [column["size"] if column["kind"] == "category" else 1 for column in self.columns]
        # a real column's network output is a mean and a width
        self.outputs = [
            2 if c["kind"] == "real" else w for c, w in zip(self.columns, self.widths, strict=True)
        ]

    @property
    def features(self) -> int:
        return sum(self.widths) + len(self.columns)

    @property
    def parameters_size(self) -> int:
        return sum(self.outputs)

    def forward(self, rows: Tensor) -> Tensor:
        missing = torch.isnan(rows)
        filled = torch.where(missing, 0.0, rows)
        parts = [self._feature(c, filled[..., i]) for i, c in enumerate(self.columns)]
        present = [part * ~missing[..., i, None] for i, part in enumerate(parts)]
        return torch.cat([*present, missing.to(rows.dtype)], -1)

    def negative_log_likelihood(self, outputs: Tensor, rows: Tensor) -> Tensor:
        """``-Σ_c log p(row_c | outputs)`` over the columns that are present, one number per row."""
        missing = torch.isnan(rows)
        filled = torch.where(missing, 0.0, rows)
        total = torch.zeros((), dtype=rows.dtype, device=rows.device)
        for i, (column, part) in enumerate(zip(self.columns, outputs.split(self.outputs, -1), strict=True)):
            total = total + torch.where(missing[..., i], 0.0, self._loss(column, part, filled[..., i]))
        return total

    def mean(self, outputs: Tensor) -> Tensor:
        """The most likely entry of every column (the mean of real columns and counts), ``(..., C)``."""
        columns = []
        for column, part in zip(self.columns, outputs.split(self.outputs, -1), strict=True):
            kind = column["kind"]
            if kind == "real":
                columns.append(part[..., 0] * column.get("sd", 1.0) + column.get("mean", 0.0))
            elif kind == "category":
                columns.append(part.argmax(-1).to(part.dtype))
            else:
                columns.append(part[..., 0].sigmoid() if kind == "binary" else softplus(part[..., 0]))
        return torch.stack(columns, -1)

    def draw(self, outputs: Tensor) -> Tensor:
        """An entry of every column drawn from its distribution, ``(..., C)``."""
        columns = []
        for column, part in zip(self.columns, outputs.split(self.outputs, -1), strict=True):
            kind = column["kind"]
            if kind == "category":
                columns.append(torch.distributions.Categorical(logits=part).sample().to(part.dtype))
            elif kind == "binary":
                columns.append(torch.bernoulli(part[..., 0].sigmoid()))
            elif kind == "count":
                columns.append(torch.poisson(softplus(part[..., 0]) + 1e-6))
            else:
                entry = torch.normal(part[..., 0], softplus(part[..., 1]) + 1e-2)
                columns.append(entry * column.get("sd", 1.0) + column.get("mean", 0.0))
        return torch.stack(columns, -1)

    def _feature(self, column: dict[str, Any], entry: Tensor) -> Tensor:
        kind = column["kind"]
        if kind == "category":
            return one_hot(entry.long(), column["size"]).to(entry.dtype)
        if kind == "real":
            entry = _standard(column, entry)
        return (torch.log1p(entry) if kind == "count" else entry).unsqueeze(-1)

    def _loss(self, column: dict[str, Any], part: Tensor, entry: Tensor) -> Tensor:
        kind = column["kind"]
        if kind == "category":
            leading = part.shape[:-1]
            target = entry.long().expand(leading).reshape(-1)
            return cross_entropy(part.reshape(-1, part.shape[-1]), target, reduction="none").reshape(leading)
        output = part[..., 0]
        entry = entry.expand(output.shape)
        if kind == "binary":
            return binary_cross_entropy_with_logits(output, entry, reduction="none")
        if kind == "count":
            return -torch.distributions.Poisson(softplus(output) + 1e-6, validate_args=False).log_prob(entry)
        scale = softplus(part[..., 1]) + 1e-2
        normal = torch.distributions.Normal(output, scale, validate_args=False)
        return -normal.log_prob(_standard(column, entry))


class TableTrunk(Trunk):
    """Rows of a table through hidden layers."""

    def __init__(self, table: Table, hidden: Sequence[int]) -> None:
        super().__init__(hidden[-1])
        self.table = table
        self.vector = VectorTrunk(Size((table.features,)), hidden)

    def forward(self, rows: Tensor) -> Tensor:
        return self.vector(self.table(rows))


def _standard(column: Mapping[str, Any], entry: Tensor) -> Tensor:
    return (entry - column.get("mean", 0.0)) / column.get("sd", 1.0)
