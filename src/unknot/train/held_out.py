"""A score on held-out items in the middle of training: the weights as they would be used, leaving no trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from unknot.core import handlers
from unknot.train import seeding

# ---- WeightAverage: an exponential moving average of a model's weights -----------------------------------


class WeightAverage:
    """``a <- d a + (1 - d) w`` after every step, with ``d = min(decay, (1 + t) / (10 + t))`` at step t.

    The smaller decay at the start lets the average leave the random initial weights quickly. Buffers are
    not averaged.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.parameters: list[Tensor] = [p for p in model.parameters() if p.requires_grad]
        self.averages = [p.detach().clone() for p in self.parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after ``step`` finished steps."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.averages, self.parameters, 1 - decay)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside, the model has the averaged weights."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def state_dict(self) -> dict[str, Tensor]:
        """The model's state with averaged weights."""
        with self.in_use():
            return {name: t.detach().clone() for name, t in self.model.state_dict().items()}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        names = [name for name, p in self.model.named_parameters() if p.requires_grad]
        for name, average in zip(names, self.averages, strict=True):
            if state[name].shape != average.shape:  # copying would stretch it
                raise ValueError(f"the average of '{name}' has another shape")
            average.copy_(state[name])

    def _swap(self) -> None:
        for parameter, average in zip(self.parameters, self.averages, strict=True):
            parameter.data, average.data = average.data, parameter.data


# ---- EarlyStopping: remember the best validation score and its weights, and say when to stop -------------


class EarlyStopping:
    """Scores are better when larger. Stops after ``patience`` validations in a row without a new best.

    Without patience it only remembers the best score, not the weights.
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.best = -math.inf
        self.best_step = 0
        self.worse = 0
        self.weights: dict[str, Tensor] = {}

    def observe(self, score: float, step: int) -> bool:
        """Take in a score; true if it is the best so far. NaN never is."""
        if score > self.best:
            self.best, self.best_step, self.worse = score, step, 0
            return True
        self.worse += 1
        return False

    @property
    def exhausted(self) -> bool:
        return self.patience is not None and self.worse >= self.patience

    def state(self) -> dict[str, Any]:
        best = self.best if math.isfinite(self.best) else None
        return {"best": best, "best_step": self.best_step, "worse": self.worse}

    def restore(self, state: dict[str, Any], weights: dict[str, Tensor]) -> None:
        self.best = -math.inf if state["best"] is None else state["best"]
        self.best_step, self.worse = state["best_step"], state["worse"]
        self.weights = weights


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
