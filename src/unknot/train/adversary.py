"""FactorVAE in the loop: a discriminator that is trained beside the model, on batches of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.objectives.discriminator import Discriminator, discriminator_loss, joined_draws
from unknot.objectives.table_one import factor_vae
from unknot.objectives.terms import Terms
from unknot.train.processes import mean_over_processes


class FactorVAE(nn.Module):
    """The objective ``{"name": "factor_vae", "gamma": 10}`` with its discriminator (Kim & Mnih 2018)."""

    def __init__(self, q: Trace, gamma: float = 10.0, variables: Sequence[str] | None = None) -> None:
        super().__init__()
        self.gamma, self.variables = gamma, variables
        self.discriminator = Discriminator(sum(part.shape[-1] for part, _ in joined_draws(q, variables)))

    def forward(self, q: Trace, p: Trace) -> Terms:
        return factor_vae(q, p, self.discriminator, self.gamma, self.variables)

    def own_loss(self, q: Trace) -> Tensor:
        """What the discriminator minimizes; no gradient reaches the model."""
        return discriminator_loss(self.discriminator, q, self.variables)


class Adversary:
    """Steps an objective's own network once after each step of the model.

    Parameters
    ----------
    objective : FactorVAE
        The objective and its network.
    program : callable
        Returns the traces (q, p) of a batch.
    world : int
        The number of processes.
    """

    def __init__(
        self, objective: FactorVAE, program: Callable[[Batch], tuple[Trace, Trace]], world: int
    ) -> None:
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
