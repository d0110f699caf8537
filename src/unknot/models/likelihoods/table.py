"""Tables: columns of several kinds in one array, with NaN for missing values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot, softplus

from unknot.core.trace import Trace
from unknot.errors import DataError, SpecError
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.networks.mlp import VectorTrunk
from unknot.models.networks.network import Trunk
from unknot.models.node_spec import NodeSpec
from unknot.schema import Schema, list_of, number, text, whole

KINDS = ("real", "binary", "category", "count")
_COLUMN: Schema = {
    "type": "object",
    "properties": {
        "name": text(),
        "kind": text(),
        "size": whole(1, 10**6),
        "mean": number(),
        "sd": number(above=0),
    },
    "description": "a table {name, kind, ...} of a column",
}


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


class TableLikelihood(Likelihood):
    """Columns of several kinds, with missing entries; ``columns`` describes them, by default as the data has them."""

    name = "table"
    OPTIONS: ClassVar[Mapping[str, Schema]] = {"columns": list_of(_COLUMN)}
    entrywise = False
    takes_columns = True

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        columns = self.options.get("columns")
        if not columns:
            raise SpecError(f"node '{spec.name}': a table needs columns")
        self.table = Table(columns)
        if tuple(shape) != (len(columns),):
            raise SpecError(
                f"node '{spec.name}': {len(columns)} columns are described, but rows have {shape[0]}"
            )

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return table

    @classmethod
    def check_items(cls, spec: NodeSpec, x: Tensor) -> None:
        check_rows(spec.family.options.get("columns", ()), x)

    @property
    def parameters_shape(self) -> Size:
        return Size((self.table.parameters_size,))

    def vector_trunk(self, hidden: Sequence[int] | None) -> Trunk:
        return TableTrunk(self.table, hidden or (self.width,))

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.loss(self.table.negative_log_likelihood, outputs, x, name=name)

    def mean(self, outputs: Tensor) -> Tensor:
        return self.table.mean(outputs)

    def draw(self, outputs: Tensor) -> Tensor:
        return self.table.draw(outputs)


# ---- columns from the data ----------------------------------------------------------------------------------


def describe_columns(
    kinds: Iterable[str], rows: Tensor, names: Iterable[str] = (), classes: Iterable[int] = ()
) -> tuple[Mapping[str, Any], ...]:
    """Return each column's kind, with mean and standard deviation of a real one and the classes of a category.

    Parameters
    ----------
    kinds : iterable of str
        The kinds of the columns, from :data:`KINDS`.
    rows : Tensor
        ``(N, C)``, NaN for missing values.
    names : iterable of str, optional
        The names of the columns.
    classes : iterable of int, optional
        The numbers of classes; by default the largest class that occurs decides.
    """
    kinds, titles, sizes = list(kinds), list(names), list(classes)
    if rows.ndim != 2 or rows.shape[1] != len(kinds):
        raise DataError(f"columns names {len(kinds)} kinds, but rows have shape {tuple(rows.shape[1:])}")
    columns = []
    for i, kind in enumerate(kinds):
        name = titles[i] if titles else f"column {i}"
        if kind not in KINDS:
            raise DataError(f"'{name}': kind is one of {', '.join(KINDS)}, but is {kind!r}")
        present = rows[:, i][~torch.isnan(rows[:, i])]
        if len(present) == 0:
            raise DataError(f"'{name}': every entry is missing; leave the column out.")
        size = sizes[i] if sizes else 0
        columns.append({"name": name, "kind": kind, **_measured(name, kind, present, size)})
    return tuple(columns)


def _measured(name: str, kind: str, present: Tensor, size: int) -> dict[str, Any]:
    if kind == "real":
        return {"mean": float(present.mean()), "sd": float(present.std(correction=0)) or 1.0}
    _check_entries(name, kind, present, math.inf)
    return {"size": max(size, int(present.max()) + 1)} if kind == "category" else {}


def check_rows(columns: Sequence[Mapping[str, Any]], rows: Tensor) -> None:
    """Refuse rows ``(N, C)`` with an entry that a described column cannot hold."""
    for i, column in enumerate(columns):
        present = rows[:, i][~torch.isnan(rows[:, i])]
        if column["kind"] != "real":
            _check_entries(column["name"], column["kind"], present, column.get("size", math.inf))


def _check_entries(name: str, kind: str, present: Tensor, classes: float) -> None:
    """Whole numbers from 0: to 1 in a binary column, below the number of classes in a category."""
    end = 2 if kind == "binary" else classes
    invalid = present[(present < 0) | (present != present.round()) | (present >= end)]
    if len(invalid):
        raise DataError(f"'{name}': entries of a {kind} column cannot be {float(invalid[0]):g}")


def _standard(column: Mapping[str, Any], entry: Tensor) -> Tensor:
    return (entry - column.get("mean", 0.0)) / column.get("sd", 1.0)
