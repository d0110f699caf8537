"""TracedProgram: a program as training runs it. Its traces know it, as those of :func:`unknot.trace` do."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from unknot.core.evidence import GivenValues, given
from unknot.core.handlers import learned
from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.core.tracing import Call, EventDims
from unknot.data.batch import Batch
from unknot.errors import SpecError

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
