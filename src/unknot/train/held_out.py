"""A score on held-out items in the middle of training: the weights as they would be used, leaving no trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import nn

from unknot.core import handlers
from unknot.train import seeding
from unknot.train.averaging import WeightAverage

HeldOut = Callable[[nn.Module], float]  # better when larger


def held_out_score(
    model: nn.Module, average: WeightAverage | None, held_out: HeldOut, world: int, device: torch.device
) -> float:
    """The score of the averaged weights if there are such, else of the weights; the first process's for all."""
    with _evaluating(model), average.in_use() if average is not None else nullcontext():
        score = float(held_out(model))
    if world == 1:
        return score
    shared = torch.tensor(score, dtype=torch.float64, device=device)
    torch.distributed.broadcast(shared, 0)
    return shared.item()


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode, no gradient, all of the noise, and random states that stay as they are."""
    with seeding.kept(), handlers.shard(0, 1), torch.no_grad():
        model.eval()
        try:
            yield
        finally:
            model.train()
