"""The score function: term by term against a loop, and its two baselines."""

from __future__ import annotations

import pytest
import torch

import unknot
from tests.core.gradients.by_hand import B
from tests.statistics import assert_mean
from unknot.core.expectation import expect
from unknot.core.gradients import RunningMean, leave_one_out


def test_score_function_with_leave_one_out() -> None:
    logits = torch.randn(B, requires_grad=True)
    q = unknot.Trace(samples=3)
    y = q.bernoulli(logits=logits, name="y")
    assert q["y"].gradient == "score_function"  # the default of a discrete site
    f = (y * 5 + 1).detach()
    ours = expect(q, f)
    torch.testing.assert_close(ours, f.mean(0))  # the added term is zero
    expected = torch.zeros(B)
    for b in range(B):
        for s in range(3):
            others = [f[t, b] for t in range(3) if t != s]
            score = y[s, b] - logits[b].sigmoid()
            expected[b] += (score * (f[s, b] - sum(others) / 2) / 3).item()
    torch.testing.assert_close(torch.autograd.grad(ours.sum(), logits)[0], expected)


def test_leave_one_out_of_one_sample_is_zero() -> None:
    assert leave_one_out(torch.ones(4)).tolist() == [0.0] * 4
    assert leave_one_out(torch.ones(1, 4)).tolist() == [[0.0] * 4]
    assert leave_one_out(torch.tensor([[1.0], [2.0], [6.0]])).tolist() == [[4.0], [3.5], [1.5]]


def test_running_mean_is_part_of_the_state() -> None:
    baseline = RunningMean(decay=0.9)
    baseline.update(torch.tensor([2.0, 4.0]))
    baseline.update(torch.tensor([0.0]))
    assert baseline.mean.item() == pytest.approx(2.7)
    twin = RunningMean(decay=0.9)
    twin.load_state_dict(baseline.state_dict())
    assert twin.mean.item() == pytest.approx(2.7)
    twin.eval()
    before = twin.mean.clone()
    twin.update(torch.tensor([100.0]))
    assert torch.equal(twin.mean, before)  # evaluation leaves it alone


def test_two_sites_may_share_a_running_mean() -> None:
    """One sub-model in a loop. E (y1 + 2 y2) (y1 + y2 + 3) by hand, from the first step on."""
    logit = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    share = logit.sigmoid()
    # Both are 1 with probability π: Σ over the four cases of π(y1) π(y2) (y1 + 2 y2) (y1 + y2 + 3).
    exact = share * (1 - share) * (1 * 4) + (1 - share) * share * (2 * 4) + share * share * (3 * 5)
    (truth,) = torch.autograd.grad(exact, logit)
    torch.manual_seed(0)
    slopes = []
    for _ in range(3000):
        way = unknot.ScoreFunction(RunningMean())  # new: its first step
        q = unknot.Trace()
        first = q.bernoulli(logits=logit.expand(1), gradient=way, name="y1")
        second = q.bernoulli(logits=logit.expand(1), gradient=way, name="y2", event_dims=0)
        value = expect(q, (first + 2 * second) * (first + second + 3))
        slopes.append(torch.autograd.grad(value.sum(), logit)[0])
    assert_mean(torch.stack(slopes), truth)
