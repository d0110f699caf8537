"""torch.compile takes a whole program, traces included, without a graph break, and computes the same."""

from __future__ import annotations

import shutil

import pytest
import torch
from torch import Tensor

import unknot
from benchmarks.trace_step import BATCH, Networks, batch, by_hand, traced
from tests.statistics import assert_mean

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")


@pytest.mark.parametrize("samples", [None, 3])
def test_the_benchmarks_two_programs_compute_the_same(samples: int | None) -> None:
    nets = Networks()
    results = []
    for loss in (traced, by_hand):
        torch.manual_seed(1)
        value = loss(nets, *batch(), samples)
        results.append((value, torch.autograd.grad(value, list(nets.parameters()))))
    torch.testing.assert_close(results[0], results[1], rtol=1e-4, atol=1e-4)


def test_no_graph_breaks() -> None:
    """The class-and-style step is one graph; checks are on and must keep out of it."""
    torch._dynamo.reset()
    nets = Networks()
    explained = torch._dynamo.explain(traced)(nets, *batch(), None)
    assert explained.graph_break_count == 0, explained.break_reasons
    assert explained.graph_count == 1


def observed(nets: Networks, x: Tensor, labels: Tensor) -> Tensor:
    """No draws: both versions must agree to rounding."""
    p = unknot.Trace()
    y = p.concrete(nets.y(nets.h(x)), 0.66, value=labels, name="y")
    z = p.normal(0.0, 1.0, value=torch.ones(BATCH, 10), name="z")
    with p.where(labels > 2):
        p.bernoulli(logits=nets.back(unknot.cat([y, z], -1)), value=x, name="x")
    return p.log_prob()


@pytest.mark.slow
@needs_compiler
@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_compiled_programs_compute_the_same() -> None:
    torch._dynamo.reset()
    nets = Networks()
    x, labels, known = batch()
    compiled = torch.compile(observed, fullgraph=True)
    torch.testing.assert_close(compiled(nets, x, labels), observed(nets, x, labels), rtol=1e-4, atol=1e-3)

    def losses(loss) -> Tensor:
        with torch.no_grad():
            return torch.stack([loss(nets, x, labels, known, None) for _ in range(200)])

    eager = losses(traced)
    drawn = losses(torch.compile(traced, fullgraph=True))
    assert_mean(drawn - eager, torch.tensor(0.0))  # other random numbers, the same expectation
