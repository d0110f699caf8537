"""The model of a data set: the default one, and what a described one takes from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import StoredItems
from unknot.models.default_model import default_model
from unknot.models.families import node_for_labels
from unknot.models.likelihoods import data_family, likelihood_of
from unknot.models.spec import ModelSpec
from unknot.models.table_columns import describe_columns
from unknot.workflow.labels import class_count

_COLUMN_NUMBERS = 1 << 25  # of columns that are described together, where rows stay in a file


def model_for_data(data: Dataset, **options: Any) -> ModelSpec:
    """Every factor of the data set as a node, a style, and the items made from them."""
    factors = {name: factor_node(factor) for name, factor in data.factors.items()}
    family = _family(data)
    columns = columns_of(data) if data.table else ()
    return default_model(family, factors, columns=columns, **options)


def _family(data: Dataset) -> str:
    """The family of the data node: what holds items in a way of its own says what they are."""
    if isinstance(data.x, Tensor | StoredItems):
        return data_family(_telling(data.x), table=bool(data.table))
    return "multinomial" if isinstance(data.x, SparseCounts) else "bernoulli"


def _telling(x: Tensor | StoredItems) -> Tensor:
    """Items that tell the family of all: the extremes of those in a file, unless their type says enough."""
    if isinstance(x, Tensor):
        return x
    return x[:1] if x.dtype == torch.uint8 else x.extremes()


def with_columns(spec: ModelSpec, data: Dataset) -> ModelSpec:
    """A described model with the columns of its table, where the description leaves them to the data."""
    if not likelihood_of(spec.data).takes_columns or spec.data.columns or not data.table:
        return spec
    table = replace(spec.data, columns=columns_of(data))
    return replace(spec, nodes=tuple(table if n.is_data else n for n in spec.nodes))


def columns_of(data: Dataset) -> tuple[Mapping[str, Any], ...]:
    """The table's columns with what the rows tell of them."""
    assert isinstance(data.x, Tensor | StoredItems)
    step = (
        max(1, _COLUMN_NUMBERS // max(1, len(data))) if isinstance(data.x, StoredItems) else len(data.table)
    )
    described: tuple[Mapping[str, Any], ...] = ()
    for start in range(0, len(data.table), step):
        some = data.table[start : start + step]
        rows = data.x if isinstance(data.x, Tensor) else data.x.columns(start, start + step)
        sizes = [len(c.classes) for c in some]
        described += describe_columns([c.kind for c in some], rows, [c.name for c in some], sizes)
    return described


def factor_node(factor: Factor) -> dict[str, Any]:
    """Family, size and units of the node that suits a factor's labels."""
    classes = None if factor.kind == "continuous" else class_count(factor)
    return node_for_labels(factor.kind, factor.values[factor.known], classes)
