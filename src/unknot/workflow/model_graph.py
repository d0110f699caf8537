"""The graph of a trained model, read from its two programs."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.graph import graph
from unknot.graph.structure import Graph
from unknot.workflow.trained_model import TrainedModel

_DRAWN = 4  # items of the graph's example


def model_graph(model: TrainedModel, data: Dataset) -> Graph:
    """Return the graph of both programs, with every factor's label known for the first of four items.

    Such a factor is drawn as partly observed.
    """
    x = data.batch(torch.arange(_DRAWN) % len(data)).x.to_dense()
    names = model.source.label_names(model.data)
    labels = {name: one_known(data.factors[name]) for name in names if name in data.factors}
    return graph(model.program.encode, model.program.decode, (x, labels))


def one_known(factor: Factor) -> Tensor:
    """Labels of a few items: the first label there is for the first item, unknown for the others."""
    values = factor.values.cpu()
    unknown = float("nan") if values.is_floating_point() else -1
    labels = torch.full((_DRAWN, *values.shape[1:]), unknown, dtype=values.dtype)
    first = values[factor.known.cpu()][:1]
    labels[: len(first)] = first
    return labels
