"""The model of a data set: the default one, and what a described one takes from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.sparse_counts import SparseCounts
from unknot.models.default_model import default_model
from unknot.models.families import node_for_labels
from unknot.models.likelihoods import data_family, likelihood_of
from unknot.models.spec import ModelSpec
from unknot.models.table_columns import describe_columns
from unknot.workflow.labels import class_count


def model_for_data(data: Dataset, **options: Any) -> ModelSpec:
    """Every factor of the data set as a node, a style, and the items made from them."""
    factors = {name: factor_node(factor) for name, factor in data.factors.items()}
    family = _family(data)
    columns = columns_of(data) if data.table else ()
    return default_model(family, factors, columns=columns, **options)


def _family(data: Dataset) -> str:
    """The family of the data node: what holds items in a way of its own says what they are."""
    if isinstance(data.x, Tensor):
        return data_family(data.x, table=bool(data.table))
    return "multinomial" if isinstance(data.x, SparseCounts) else "bernoulli"


def with_columns(spec: ModelSpec, data: Dataset) -> ModelSpec:
    """A described model with the columns of its table, where the description leaves them to the data."""
    if not likelihood_of(spec.data).takes_columns or spec.data.columns or not data.table:
        return spec
    table = replace(spec.data, columns=columns_of(data))
    return replace(spec, nodes=tuple(table if n.is_data else n for n in spec.nodes))


def columns_of(data: Dataset) -> tuple[Mapping[str, Any], ...]:
    """The table's columns with what the rows tell of them."""
    assert isinstance(data.x, Tensor)
    kinds, names = [c.kind for c in data.table], [c.name for c in data.table]
    return describe_columns(kinds, data.x, names, [len(c.classes) for c in data.table])


def factor_node(factor: Factor) -> dict[str, Any]:
    """Family, size and units of the node that suits a factor's labels."""
    classes = None if factor.kind == "continuous" else class_count(factor)
    return node_for_labels(factor.kind, factor.values[factor.known], classes)
