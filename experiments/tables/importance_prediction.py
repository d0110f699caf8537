"""Importance-weighted prediction: the class whose joint probability with the data is the largest."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.core.tracing import trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.objectives import importance_weighted
from unknot.workflow.trained_model import TrainedModel

_CHUNK = 500


def class_log_evidence(model: TrainedModel, x: Tensor, factor: str, samples: int) -> Tensor:
    """``log (1/S) Σ_s p(x, k, z_s) / q(z_s | x, k)`` for every class k, ``(B, K)`` (the evidence of S17 Eq. 9).

    Its softmax over k estimates the generative model's own posterior p(k | x); the encoder q(k | x) has no part
    in it, only in the proposals of the other nodes.
    """
    classes = model.node(factor).size or 0
    program, found = model.program, []
    for k in range(classes):
        q = trace(program.encode, x, {factor: torch.full((len(x),), k, device=x.device)}, samples)
        found.append(importance_weighted(q, trace(program.decode, x, q))["evidence"])
    return torch.stack(found, -1)


def importance_weighted_error(
    model: TrainedModel, data: Dataset, factor: str, samples: int, seed: int = 0
) -> float:
    """Share of items whose likeliest class, by the generative model, is not their label."""
    wrong = total = 0
    with torch.random.fork_rng(devices=[]), torch.no_grad(), validation(False):
        torch.manual_seed(seed)
        for batch in data.batches(_CHUNK, shuffle=False):
            said = class_log_evidence(model, batch.x, factor, samples).argmax(-1)
            wrong += int((said != batch[factor]).sum())
            total += len(batch)
    return wrong / total
