"""Untrained models in the form that every door takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.models.spec import read_spec
from unknot.workflow.model_source import Described
from unknot.workflow.trained_model import TrainedModel


def untrained(spec: Any, shape: Sequence[int], **factors: Factor) -> TrainedModel:
    """A model of items of a shape, with weights as they are drawn; ``factors`` are those of its data, without items."""
    source = Described(read_spec(spec))
    items = Dataset("data", torch.zeros(0, *shape), torch.zeros(0, dtype=torch.int64), factors)
    return TrainedModel(source.build(torch.Size(shape)).eval(), source, items)


def like(spec: Any, data: Dataset) -> TrainedModel:
    """A model of a data set."""
    none = data.subset([])
    source = Described(read_spec(spec))
    return TrainedModel(source.build(data.item_shape).eval(), source, none)
