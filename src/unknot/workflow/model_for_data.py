"""The model of a data set: the default one, and what a described one takes from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.models.default_model import default_model
from unknot.models.spec import ModelSpec
from unknot.models.table_columns import describe_columns


def model_for_data(data: Dataset, **options: Any) -> ModelSpec:
    """Every factor of the data set as a node, a style, and the items made from them."""
    factors = {name: factor_node(factor) for name, factor in data.factors.items()}
    if data.table:
        return default_model("table", factors, columns=columns_of(data), **options)
    return default_model(data_family(data), factors, **options)


def with_columns(spec: ModelSpec, data: Dataset) -> ModelSpec:
    """A described model with the columns of its table, where the description leaves them to the data."""
    if spec.data.family != "table" or spec.data.columns or not data.table:
        return spec
    table = replace(spec.data, columns=columns_of(data))
    return replace(spec, nodes=tuple(table if n.is_data else n for n in spec.nodes))


def columns_of(data: Dataset) -> tuple[Mapping[str, Any], ...]:
    """The table's columns with what the rows tell of them."""
    assert isinstance(data.x, Tensor)
    kinds, names = [c.kind for c in data.table], [c.name for c in data.table]
    return describe_columns(kinds, data.x, names, [len(c.classes) for c in data.table])


def factor_node(factor: Factor) -> dict[str, Any]:
    """Family and size of a factor's node: classes are Concrete, numbers are Gaussian in their labels' units."""
    if factor.kind != "continuous":
        count = int(factor.values.max()) + 1 if factor.kind == "count" else factor.num_classes
        return {"family": "concrete", "size": count}
    size = 1 if factor.values.ndim == 1 else factor.values.shape[1]
    labels = factor.values[factor.known].reshape(-1, size).double()
    if len(labels) < 2:
        return {"family": "normal", "size": size}
    spread = labels.std(0, correction=0)
    spread = torch.where(spread > 0, spread, 1.0)
    return {"family": "normal", "size": size, "centre": labels.mean(0).tolist(), "spread": spread.tolist()}


def data_family(data: Dataset) -> str:
    """Pixels and shares are Bernoulli, whole numbers are counts of words, anything else is Gaussian."""
    x = data.x if isinstance(data.x, Tensor) else torch.zeros(1)  # packed bits are 0 and 1
    if x.dtype == torch.uint8 or (x.is_floating_point() and bool(((x >= 0) & (x <= 1)).all())):
        return "bernoulli"
    if not x.is_floating_point() and x.ndim == 2 and bool((x >= 0).all()):
        return "multinomial"
    return "normal"
