"""The default model of a data set: which families its factors and its items call for."""

from __future__ import annotations

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
    factors = {name: factor_family(factor) for name, factor in data.factors.items()}
    if not data.table:
        return default_model(data_family(data), factors, **options)
    assert isinstance(data.x, Tensor)
    kinds, names = [c.kind for c in data.table], [c.name for c in data.table]
    columns = describe_columns(kinds, data.x, names, [len(c.classes) for c in data.table])
    return default_model("table", factors, columns=columns, **options)


def factor_family(factor: Factor) -> tuple[str, int]:
    """Family and size of a factor's node: classes are Concrete, numbers are Gaussian."""
    if factor.kind == "continuous":
        return "normal", 1 if factor.values.ndim == 1 else factor.values.shape[1]
    if factor.kind == "count":
        return "concrete", int(factor.values.max()) + 1
    return "concrete", factor.num_classes


def data_family(data: Dataset) -> str:
    """Pixels and shares are Bernoulli, whole numbers are counts of words, anything else is Gaussian."""
    x = data.x if isinstance(data.x, Tensor) else torch.zeros(1)  # packed bits are 0 and 1
    if x.dtype == torch.uint8 or (x.is_floating_point() and bool(((x >= 0) & (x <= 1)).all())):
        return "bernoulli"
    if not x.is_floating_point() and bool((x >= 0).all()):
        return "multinomial"
    return "normal"
