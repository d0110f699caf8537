"""Adversary: the network of an objective, which is trained beside the model on batches of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.train.processes import mean_over_processes


class Adversary:
    """Steps an objective's own network once after each step of the model.

    Parameters
    ----------
    objective : nn.Module
        The objective, with the loss of its network as ``own_loss(q)``, for instance
        :class:`~unknot.objectives.discriminator.FactorVAE`.
    program : callable
        Returns the traces (q, p) of a batch.
    world : int
        The number of processes.
    """

    def __init__(self, objective: Any, program: Callable[[Batch], tuple[Trace, Trace]], world: int) -> None:
        self.objective, self.program, self.world = objective, program, world
        # The authors' settings: slower than the model and with a shorter memory.
        self.optimizer = torch.optim.Adam(objective.parameters(), lr=1e-4, betas=(0.5, 0.9), fused=True)

    def step(self, batches: Iterator[Batch]) -> Tensor:
        """One update on the next batch; returns the loss."""
        with torch.no_grad():
            q, _ = self.program(next(batches))
        loss = self.objective.own_loss(q)
        self.optimizer.zero_grad()
        loss.backward()
        for weight in self.objective.parameters():
            if self.world > 1 and weight.grad is not None:
                weight.grad = mean_over_processes(weight.grad, self.world)
        self.optimizer.step()
        return loss.detach()
