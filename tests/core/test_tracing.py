"""Traces that know their program: event axes by dry runs, dependences, and runs at other values."""

from __future__ import annotations

import torch
from torch import Tensor

import unknot
from unknot.core.tracing import trace


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
