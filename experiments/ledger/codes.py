"""Codes of a trained model with a class and a style, for the metrics."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.metrics import Probabilities
from unknot.models.graphical_model import GraphicalModel
from unknot.workflow.trained_model import TrainedModel

CLASS, STYLE = "class", "style"


def metric_codes(model: TrainedModel, x: Tensor) -> dict[str, Any]:
    """Return the class probabilities and the means of the style of items ``(N, ...)``."""
    predictions = model.predict(x).predictions
    return {CLASS: Probabilities(predictions[CLASS].numpy()), STYLE: predictions[STYLE].numpy()}


@torch.no_grad()
def fixed_traces(model: TrainedModel, x: Tensor) -> tuple[Trace, Trace]:
    """Return the traces of encoder and decoder for items ``(B, ...)``, with the same samples at every call."""
    module = model.module.eval()
    assert isinstance(module, GraphicalModel)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        q = trace(module.encode, x)
        return q, trace(module.decode, x, q)
