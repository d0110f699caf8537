"""WeightAverage: an exponential moving average of a model's weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


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
