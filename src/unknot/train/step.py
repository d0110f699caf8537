"""Step: a program and its objective as one module, so that precision, compilation and processes wrap both."""

from __future__ import annotations

from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.objectives.check import check
from unknot.train.objective import Objective
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
    objective : Objective
        What is maximized. It may be replaced between steps.
    compiled : bool
        Whether to compile the steps after the first one.
    """

    objective: Objective

    def __init__(self, traced: TracedProgram, objective: Objective, compiled: bool) -> None:
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
        items = self.prepared(batch.content)
        loss, means = run(items, None if further is None else further.content)
        return loss, Held(means)

    def prepared(self, batch: Batch) -> Batch:
        """Return the batch as the programs see it: augmented, or with an augmented view of each item beside it."""
        return batch if self.objective.sleeps else self.objective.augmented(batch, self.program)

    def traces(self, batch: Batch) -> tuple[Trace, Trace]:
        """Return the two traces that the objective is evaluated on.

        They are those of a :meth:`prepared` batch, with the penalties of the regularizers as log-terms of p; or those
        of as many generated items.
        """
        if self.objective.sleeps:
            return self.program.sleep_phase(len(batch))
        q, p = self.traced(batch)
        self.objective.regularizers.add_to(self.program, batch, q, p)
        return q, p

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
