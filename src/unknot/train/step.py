"""Step: a program and its objective as one module, so that precision, compilation and processes wrap both."""

from __future__ import annotations

from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.objectives.check import check
from unknot.train.objective import StepObjective
from unknot.train.traced_program import TracedProgram

Content = TypeVar("Content")


class Held(Generic[Content]):
    """Something in a plain box: wrappers that cast, scatter or watch tensors leave it as it is."""

    __slots__ = ("content",)

    def __init__(self, content: Content) -> None:
        self.content = content


class Step(nn.Module):
    """From a batch to the loss and the means of the objective's terms.

    Parameters
    ----------
    traced : TracedProgram
        The model that is trained.
    objective : StepObjective
        What is maximized. It may be replaced between steps.
    compiled : bool
        Whether to compile the steps after the first one.
    """

    objective: StepObjective

    def __init__(self, traced: TracedProgram, objective: StepObjective, compiled: bool) -> None:
        super().__init__()
        self.program: Program = traced.program
        self.traced = traced
        # Not a sub-module: an objective's own network is trained apart from the model.
        object.__setattr__(self, "objective", objective)
        self._run = torch.compile(self._compute, fullgraph=True, dynamic=False) if compiled else self._compute
        self.first = True  # the first step of a run: eager, and the traces are checked against each other

    def forward(
        self, batch: Held[Batch], further: Held[Batch] | None = None
    ) -> tuple[Tensor, Held[dict[str, Tensor]]]:
        """Evaluate the objective on one batch.

        Parameters
        ----------
        batch : Held of Batch
            The items.
        further : Held of Batch, optional
            Further items for the objective's estimate of q(z), without gradient.

        Returns
        -------
        loss : Tensor
            A number.
        means : Held of dict from str to Tensor
            The mean of each term, and of the loss.
        """
        eager = self.first or self.objective.sleeps
        if not eager:
            self.traced.learn(batch.content)  # a resumed run has no first step
        run = self._compute if eager else self._run
        loss, means = run(batch.content, None if further is None else further.content)
        return loss, Held(means)

    def traces(self, batch: Batch) -> tuple[Trace, Trace]:
        """Return the two traces that the objective is evaluated on: of the batch, or of as many generated items."""
        if self.objective.sleeps:
            return self.program.sleep_phase(len(batch))
        return self.traced(batch)

    def _compute(self, batch: Batch, further: Batch | None) -> tuple[Tensor, dict[str, Tensor]]:
        q, p = self.traces(batch)
        if self.first:
            check(q, p)
        reference = None if further is None else self._encoded(further)
        terms = self.objective(q, p, batch, self.program, reference)
        loss = terms.loss
        return loss, {"loss": loss.detach().float(), **terms.means()}

    def _encoded(self, further: Batch) -> Trace:
        """Return the encoder's trace of further items, without gradient."""
        with torch.no_grad():
            return self.program.encode(further.x)
