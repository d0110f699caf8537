"""Best values instead of draws: the same answer each time, for every family and any program."""

from __future__ import annotations

import torch
from torch.distributions import Bernoulli, Categorical, Gamma, Normal, OneHotCategorical

import unknot
from unknot.core.best_values import best_value, best_values, wanted
from unknot.core.relaxed import BinaryConcrete, Concrete


def test_the_best_value_of_every_family() -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0], [2.0, -1.0, 0.0]])
    hard = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert torch.equal(best_value(Concrete(logits, torch.tensor(0.66))), hard)
    assert torch.equal(best_value(OneHotCategorical(logits=logits)), hard)
    assert torch.equal(best_value(Categorical(logits=logits)), torch.tensor([1, 0]))
    assert torch.equal(best_value(Bernoulli(logits=logits)), (logits > 0).float())
    assert torch.equal(best_value(BinaryConcrete(logits, torch.tensor(0.5))), (logits > 0).float())
    assert torch.equal(best_value(Normal(logits, 1.0)), logits)
    assert torch.equal(best_value(Gamma(torch.ones(3), torch.full((3,), 2.0))), torch.full((3,), 0.5))


def program(x: torch.Tensor, label: object = None) -> unknot.Trace:
    """A class that is enumerated, and a number computed from it."""
    q = unknot.Trace()
    y = q.one_hot_categorical(logits=x, value=label, name="y", gradient="enumerate")
    q.normal(unknot.cat([x, y]), 0.5, name="z")
    return q


def test_later_sites_follow_the_best_value_of_earlier_ones() -> None:
    x = torch.randn(5, 3)
    with best_values():
        q = program(x)
    hard = torch.nn.functional.one_hot(x.argmax(-1), 3).float()
    assert torch.equal(q["y"].value, hard)
    assert torch.equal(q["z"].value, torch.cat([x, hard], -1))
    assert q.leading_shape == (5,)


def test_labels_stay_where_they_are_known() -> None:
    x = torch.tensor([[5.0, 0.0], [5.0, 0.0]])
    with best_values():
        q = program(x, unknot.partial(torch.tensor([1, -1])))
    assert q["y"].value.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_samples_share_the_best_value_and_the_switch_goes_back() -> None:
    with best_values():
        q = unknot.Trace(samples=4)
        assert q.normal(torch.zeros(3, 2), 1.0, name="z").shape == (4, 3, 2)
        assert wanted()
    assert not wanted()
    drawn = unknot.Trace().normal(torch.zeros(3, 2), 1.0, name="z")
    assert bool((drawn != 0).all())
