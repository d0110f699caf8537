"""Traces that know their program: event axes by dry runs, dependences, and runs at other values."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from unknot.core.tracing import trace
from unknot.data.batch import Batch
from unknot.errors import HistoryError, TraceError
from unknot.train.step import TracedProgram


def encoder(x: Tensor) -> unknot.Trace:
    q = unknot.Trace(samples=3)
    y = q.normal(x, 1.0, name="y")
    q.normal(2 * y, 1.0, name="z")
    return q


def test_sizes_that_coincide_are_no_obstacle() -> None:
    q = trace(encoder, torch.zeros(3, 3))
    assert q["z"].value.shape == (3, 3, 3)
    assert q["z"].event_dims == 1


def test_a_trace_reads_its_parents_and_runs_again() -> None:
    q = trace(encoder, torch.zeros(3, 3))
    assert q.call is not None
    assert q.call.parents() == {"y": [], "z": ["y"]}
    again = q.call.again({"y": torch.ones(3, 3)})
    assert torch.equal(again["z"].dist.loc.expand(3, 3, 3), torch.full((3, 3, 3), 2.0))


def test_dry_runs_leave_the_random_state() -> None:
    torch.manual_seed(0)
    first = trace(lambda x: encoder(x), torch.zeros(4, 2))["z"].value
    torch.manual_seed(0)
    assert torch.equal(encoder(torch.zeros(4, 2))["z"].value, first)


STEPS, STATES = 5, 3


def states(x: Tensor, back: int, history: int) -> unknot.Trace:
    """A chain whose states depend on the state ``back`` steps before, in a loop with a history of ``history``."""
    q = unknot.Trace()
    past: list[Tensor] = []
    table = torch.eye(STATES)
    for step in q.markov(range(STEPS), history=history):
        logits = x if step < back else table[past[step - back]]
        past.append(q.categorical(logits=logits, gradient="enumerate", name="y"))
    return q


def observations(x: Tensor, q: unknot.Trace, back: int, history: int) -> unknot.Trace:
    """Each step's data depend on the state ``back`` steps before."""
    p = unknot.Trace()
    past: list[Tensor] = []
    for step in p.markov(range(STEPS), history=history):
        past.append(p.categorical(logits=torch.zeros(STATES), value=q[f"step[{step}].y"], name="y"))
        p.normal(past[max(0, step - back)].to(x.dtype), 1.0, value=x[:, 0], name="x")
    return p


@pytest.mark.parametrize("back", [1, 2, 3])
@pytest.mark.parametrize("history", [1, 2, 3])
def test_a_step_that_looks_back_beyond_the_history_is_refused(history: int, back: int) -> None:
    x = torch.zeros(2, STATES)
    said = r"site 'step\[\d\]\.y': it is computed from 'step\[\d\]\.y', which is older than the history"
    if back > history:
        for _ in range(2):  # not only the first time
            with pytest.raises(HistoryError, match=said):
                trace(states, x, back, history)
        return
    q = trace(states, x, back, history)
    assert q.call is not None
    assert q.call.parents()["step[4].y"] == [f"step[{4 - back}].y"]


def test_the_decoder_and_models_in_training_are_checked_too() -> None:
    x = torch.zeros(2, STATES)
    q = trace(states, x, 1, 2)
    trace(observations, x, q, 2, 2)
    with pytest.raises(HistoryError, match=r"site 'step\[\d\]\.x': it is computed from 'step\[\d\]\.y'"):
        trace(observations, x, q, 3, 2)

    def model(batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
        q = states(batch.x, 2, 1)
        return q, observations(batch.x, q, 1, 1)

    program = TracedProgram(model)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(HistoryError, match="older than the history"):
            program(Batch(x, torch.arange(2), {}, {}, 2))


@pytest.mark.parametrize("classes", [2, 3])
def test_constants_of_one_number_are_refused_even_where_the_program_fails_at_one_reading(
    classes: int,
) -> None:
    """A dry run takes ``(1,)`` for the batch, and the program may not run there: this is no reason to guess."""

    def program(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.normal(x[:, 0], 1.0, name="z", event_dims=0)
        y = q.categorical(logits=torch.zeros(1, classes), name="y")
        q.normal(
            torch.zeros(len(x), 1) + y.reshape(len(x), 1) @ torch.ones(1, 1), 1.0, name="w", event_dims=1
        )
        q.normal(torch.ones(2) @ y.expand(len(x), 2)[0].to(x.dtype) * x, 1.0, name="v", event_dims=1)
        return q

    with pytest.raises(TraceError, match=r"site 'y': .* could be a vector of one number or a number"):
        trace(program, torch.zeros(1, 4))


def test_dry_runs_of_many_enumerated_sites_stay_small() -> None:
    """A table over eight binary sites has 256 entries for each item; primes for each axis would make it 10^10."""
    sizes: list[int] = []

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        for k in range(8):
            q.bernoulli(logits=torch.zeros(len(x)), gradient="enumerate", name=f"b{k}")
        table = sum(q[f"b{k}"].value for k in range(8))
        sizes.append(table.numel())
        q.normal(table[..., None], 1.0, name="z")
        return q

    unknot.trace(encoder, torch.zeros(10, 1))
    assert max(sizes) < 1_000_000
