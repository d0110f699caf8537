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


def test_networks_run_once_for_each_value_and_not_for_each_item() -> None:
    """K rows through a network after an enumerated site; terms are per item all the same, and a later draw is."""
    batch, states = 5, 3
    network = torch.nn.Linear(states, 2)
    rows: list[int] = []
    network.register_forward_hook(lambda _, given, out: rows.append(out[..., 0].numel()))

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        y = q.one_hot_categorical(logits=torch.zeros(len(x), states), gradient="enumerate", name="y")
        q.normal(network(y), 1.0, name="z")
        return q

    x = torch.randn(batch, 2)
    q, p = unknot.trace(encoder, x), unknot.Trace()
    assert rows[-1] == states
    assert q["z"].value.shape == (states, 1, batch, 2)
    y = p.one_hot_categorical(logits=torch.zeros(states), value=q["y"], name="y")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    p.normal(network(y), 1.0, value=x, name="x")
    assert p["y"].log_prob.shape == (states, 1, 1)
    assert rows[-1] == states
    assert {term.shape for term in unknot.objectives.elbo(q, p).values()} == {(batch,)}


def test_a_prior_site_after_shared_values_is_drawn_for_each_item() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.categorical(logits=torch.zeros(4, 2), gradient="enumerate", name="k")
    p.categorical(logits=torch.zeros(2), value=q["k"], name="k")
    assert p.normal(torch.zeros(3), 1.0, name="u").shape == (1, 4, 3)


@pytest.mark.parametrize("items", [1, 2, 3])
def test_observed_classes_of_shared_parameters(items: int) -> None:
    """Scored by an index into the table, beside torch's own log-probability."""
    table, x = torch.randn(3, 1, 1, 4, requires_grad=True), torch.randint(0, 4, (items,))
    p = unknot.Trace()
    p.categorical(logits=table, value=x, name="x")
    expected = Categorical(logits=table).log_prob(x)
    torch.testing.assert_close(p["x"].log_prob, expected)
    probe = torch.randn(3, 1, items)
    ours, theirs = (torch.autograd.grad((one * probe).sum(), table)[0] for one in (p["x"].log_prob, expected))
    torch.testing.assert_close(ours, theirs)
