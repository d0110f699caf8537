"""Score functions of objectives that are no means over draws, and what they are without one draw."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

import unknot
from tests.statistics import assert_mean
from unknot.objectives import importance_weighted
from unknot.objectives.parts.score_of_all_draws import log_mean_without, mean_without, score_of_all_draws


def test_samples_that_share_one_draw_have_no_baseline_from_each_other() -> None:
    """A sub-model without samples draws k once; z is drawn twice. The exact expectation has 2 x 2 x 2 cases."""
    table = torch.tensor([[0.2, 1.5], [-1.0, 0.7]], dtype=torch.float64)  # log p(x | k, z)

    def objective(k: int, draws: tuple[int, ...], log_q: Tensor) -> Tensor:
        return torch.stack([table[k, z] - log_q[k] for z in draws]).logsumexp(0)

    exact = torch.tensor([0.4, -0.2], dtype=torch.float64, requires_grad=True)
    log_q = exact.log_softmax(-1)
    cases = itertools.product(range(2), repeat=3)
    sum(log_q[k].exp() / 4 * objective(k, draws, log_q) for k, *draws in cases).backward()

    logits = exact.detach().expand(40_000, 2).clone().requires_grad_()
    inner, q, p = unknot.Trace(), unknot.Trace(samples=2), unknot.Trace()
    k = inner.categorical(logits=logits, name="k")
    q.include(inner, "sub")
    z = q.categorical(logits=torch.zeros(40_000, 2, dtype=torch.float64), name="z")
    with p.scope("sub"):
        p.categorical(logits=torch.zeros(2), value=q["sub.k"], name="k")
    p.categorical(logits=torch.zeros(2), value=q["z"], name="z")
    p.log_term(table[k, z], name="x")
    importance_weighted(q, p).per_item.sum().backward()
    assert_mean(logits.grad, exact.grad)


def test_means_without_a_draw_are_those_of_the_other_draws() -> None:
    log_weight, values = torch.randn(4, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    mean, log_mean = mean_without(log_weight, values), log_mean_without(values)
    for s, b in itertools.product(range(4), range(3)):
        others = [t for t in range(4) if t != s]
        weights = [log_weight[t, b].exp() for t in others]
        weighted = sum(w * values[t, b] for w, t in zip(weights, others, strict=True)) / sum(weights)
        torch.testing.assert_close(mean[s, b], weighted)
        torch.testing.assert_close(log_mean[s, b], (sum(values[t, b].exp() for t in others) / 3).log())


def test_a_draw_with_nearly_all_the_weight_does_no_harm() -> None:
    log_weight = torch.tensor([[800.0], [0.0], [0.0]])
    values = torch.tensor([[5.0], [1.0], [3.0]])
    torch.testing.assert_close(mean_without(log_weight, values), torch.tensor([[2.0], [5.0], [5.0]]))


def test_the_score_is_zero_in_value_and_weighs_each_draw_by_what_it_adds() -> None:
    logits = torch.tensor([0.3, -1.0], requires_grad=True)
    q = unknot.Trace(samples=3)
    y = q.bernoulli(logits=logits, name="y")
    whole, without = torch.tensor([2.0, -1.0]), torch.randn(3, 2)
    score = score_of_all_draws(q.variables(), whole, without)
    torch.testing.assert_close(score, torch.zeros(2))
    (slope,) = torch.autograd.grad(score.sum(), logits)
    torch.testing.assert_close(slope, ((y - logits.sigmoid()) * (whole - without)).sum(0).detach())
