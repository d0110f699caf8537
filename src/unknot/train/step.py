"""Step: a program and its objective as one module, so that precision, compilation and processes wrap both."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from unknot.core.evidence import GivenValues, given
from unknot.core.handlers import learned
from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.core.tracing import Call, EventDims
from unknot.data.batch import Batch
from unknot.errors import SpecError
from unknot.objectives.check import check
from unknot.train.objective import Objective

# TracedProgram: a program as training runs it. Its traces know it, as those of :func:`unknot.trace` do.

_LATENT = given(1)  # stands for latent variables in a call; objectives put values in its place


class TracedProgram:
    """Runs a program on batches of one kind, so that objectives can run it again and read its dependences.

    Before the first run it learns the event axes of all sites, from dry runs at other sizes, and which sites depend on
    which (:mod:`unknot.core.tracing`). Later runs only use this: what :func:`unknot.trace` looks up for each call is
    the same for every batch of a training. Compiled runs use the event axes too; their traces do not know the program.

    Parameters
    ----------
    program : Program
        Returns the traces (q, p) of a batch.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.decoder = _Decoder(program)
        self._event_dims: EventDims | None = None

    def learn(self, batch: Batch) -> None:
        """Learn the event axes and dependences of all sites, unless they are known."""
        if self._event_dims is not None:
            return
        calls = self._calls(batch)
        calls[0].learn()
        self._event_dims = calls[0].memory.event_dims.get(calls[0].signature, {})
        # Objectives would read dependences in the middle of a step, where restoring buffers breaks the backward pass.
        for call in calls:
            with torch.no_grad(), suppress(Exception):  # an objective that needs them reports the error
                call.parents()

    def __call__(self, batch: Batch) -> tuple[Trace, Trace]:
        """Return the traces (q, p) of a batch."""
        if torch.compiler.is_compiling():
            return self._run(batch)
        self.learn(batch)
        q, p = self._run(batch)
        calls = self._calls(batch)
        q.call, p.call = q.call or calls[0], p.call or calls[1]
        return q, p

    def _calls(self, batch: Batch) -> tuple[Call, Call]:
        """Return how to make the two traces again."""
        return Call(self.program, (batch,), {}), Call(self.decoder, (batch, batch.x, _LATENT), {})

    def _run(self, batch: Batch) -> tuple[Trace, Trace]:
        if not self._event_dims:
            return _pair(self.program(batch))
        with learned(self._event_dims):
            return _pair(self.program(batch))


class _Decoder(nn.Module):
    """The second trace of a program as a function of data and latent variables, as objectives re-run a decoder.

    Parameters
    ----------
    program : Program
        Returns the traces (q, p) of a batch; generates by ``decode(None, given)``.
    """

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def forward(self, batch: Batch, x: Tensor | None, q: GivenValues) -> Trace:
        """Return p: that of the batch, or without data that at the values of ``q``."""
        if x is None:
            return self.program.decode(None, q)
        return _pair(Call(self.program, (batch,), {}).run())[1]


def _pair(traces: Any) -> tuple[Trace, Trace]:
    if isinstance(traces, tuple | list) and len(traces) == 2 and all(isinstance(t, Trace) for t in traces):
        return traces[0], traces[1]
    raise SpecError(
        f"forward(batch) of a program returns two traces (q, p), but this one returned {_kind(traces)}"
    )


def _kind(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"({', '.join(type(one).__name__ for one in value)})"
    return type(value).__name__


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
        self.set_objective(objective)
        self._run = torch.compile(self._compute, fullgraph=True, dynamic=False) if compiled else self._compute
        self.first = True  # the first step of a run: eager, and the traces are checked against each other

    def set_objective(self, objective: Objective) -> None:
        """Replace the objective."""
        # Not a sub-module: an objective's own network is trained apart from the model.
        object.__setattr__(self, "objective", objective)

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
