"""Both programs of a trained model on items, with the same draws at every call."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.models.graphical_model import GraphicalModel
from unknot.workflow.trained_model import TrainedModel


@torch.no_grad()
def fixed_traces(model: TrainedModel, x: Tensor) -> tuple[Trace, Trace]:
    """The encoder's and the decoder's trace of items (B, ...)."""
    module = model.module.eval()
    assert isinstance(module, GraphicalModel)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        q = trace(module.encode, x)
        return q, trace(module.decode, x, q)
