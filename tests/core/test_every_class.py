"""Log-probabilities of enumerated categorical sites: against gathering, and what a step of a chain costs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical
from torch.utils._python_dispatch import TorchDispatchMode

import unknot
from unknot.objectives import importance_weighted


@pytest.mark.parametrize(
    ("states", "batch", "samples"), list(itertools.product((1, 2, 3), (1, 2, 3), (None, 1, 2)))
)
def test_log_probabilities_are_those_of_each_class(states: int, batch: int, samples: int | None) -> None:
    """A chain of four sites whose sizes coincide with the batch and the samples, beside a loop over classes."""
    torch.manual_seed(0)
    q, p = unknot.Trace(samples=samples), unknot.Trace(samples=samples)
    z = q.normal(torch.zeros(batch, 2), 1.0, name="z")
    weights = torch.randn(2, states, requires_grad=True)
    for _ in q.markov(range(4)):
        q.categorical(logits=torch.zeros(batch, states), gradient="enumerate", name="state")
    logits: Tensor = z @ weights
    p.normal(torch.zeros(batch, 2), 1.0, value=q["z"], name="z")
    move = torch.randn(states, states, requires_grad=True)
    for t in p.markov(range(4)):
        state = p.categorical(logits=logits, value=q[f"step[{t}].state"], name="state")
        node = p[f"step[{t}].state"]
        gathered = Categorical(logits=logits).log_prob(state)
        assert node.log_prob.shape == gathered.shape
        torch.testing.assert_close(node.log_prob, gathered)
        probe = torch.randn(gathered.shape)
        for parameter in (weights, move)[: 1 + (t > 0)]:
            ours, expected = (
                torch.autograd.grad(
                    (table * probe).sum(), parameter, retain_graph=True, materialize_grads=True
                )[0]
                for table in (node.log_prob, gathered)
            )
            torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)
        logits = move[state] + z @ weights


class LargestTensor(TorchDispatchMode):
    """The number of elements of the largest tensor that any operation makes."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else (made,):
            if isinstance(one, Tensor) and not func.is_view:
                self.size = max(self.size, one.numel())
        return made


def test_a_chain_takes_the_square_of_the_states_in_both_passes() -> None:
    states, batch, steps = 16, 4, 5
    torch.manual_seed(0)
    move = torch.randn(states, states, requires_grad=True)
    q, p = unknot.Trace(), unknot.Trace()
    for _ in q.markov(range(steps)):
        q.categorical(logits=torch.zeros(batch, states), gradient="enumerate", name="state")
    with LargestTensor() as largest:
        logits = torch.zeros(states)
        for t in p.markov(range(steps)):
            logits = move[p.categorical(logits=logits, value=q[f"step[{t}].state"], name="state")]
            p.normal(logits[..., 0], 1.0, value=torch.zeros(batch), name="x")
        importance_weighted(q, p).loss.backward()
    assert 0 < largest.size <= states**2 * batch * steps
