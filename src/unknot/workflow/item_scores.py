"""How probable items are under a model: the importance-weighted bound of each, low for outliers."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.core.tracing import trace
from unknot.core.validation import validation
from unknot.objectives import importance_weighted
from unknot.workflow.item_rows import item_rows
from unknot.workflow.trained_model import TrainedModel

_CHUNK = 200


def log_evidence(model: TrainedModel, x: Tensor, samples: int = 50, seed: int = 0) -> Tensor:
    """``log (1/S) Σ_s p(x, z_s) / q(z_s | x)`` of each item, ``(N,)``: a lower bound of log p(x) (Burda et al. 2016).

    Missing entries of a table have no part in it: such a row is scored by what it shows. The draws are those of the
    seed, and leave torch's own as they were.
    """
    program, found = model.program, []
    with torch.random.fork_rng(devices=[]), torch.no_grad(), validation(False):
        torch.manual_seed(seed)
        for start in range(0, len(x), _CHUNK):
            rows = item_rows(x, start, start + _CHUNK).to(model.device)
            q = trace(program.encode, rows, None, samples)
            found.append(importance_weighted(q, trace(program.decode, rows, q))["evidence"].cpu())
    scores = torch.cat(found)
    return torch.where(scores.isnan(), -torch.inf, scores)  # numbers so far off that their squares overflow
