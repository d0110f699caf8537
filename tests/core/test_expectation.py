"""E_q[f]: exact sums, averages and scores, alone and together, with values and gradients checked by loops."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from tests.statistics import assert_mean
from unknot.core.expectation import expect

B = 3
F = torch.tensor([[1.0, 5.0, -2.0], [10.0, -3.0, 0.5]])  # f(a, b) for a of 2 and b of 3 classes


def f_of(a: Tensor, b: Tensor) -> Tensor:
    a, b = torch.broadcast_tensors(a, b)
    return F[a, b]


def close(ours: Tensor, exact: Tensor, *inputs: Tensor) -> None:
    torch.testing.assert_close(ours, exact)
    for mine, theirs in zip(
        torch.autograd.grad(ours.sum(), inputs), torch.autograd.grad(exact.sum(), inputs), strict=True
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_two_independent_enumerated_sites() -> None:
    one, other = torch.randn(B, 2, requires_grad=True), torch.randn(B, 3, requires_grad=True)
    q = unknot.Trace()
    a = q.categorical(logits=one, name="a", gradient="enumerate")
    b = q.categorical(logits=other, name="b", gradient="enumerate")
    exact = torch.einsum("na,nb,ab->n", one.softmax(-1), other.softmax(-1), F)
    close(expect(q, f_of(a, b)), exact, one, other)


@pytest.mark.parametrize("samples", [None, 4])
def test_an_enumerated_site_that_depends_on_another(samples: int | None) -> None:
    one, table = torch.randn(B, 2, requires_grad=True), torch.randn(2, 3, requires_grad=True)
    q = unknot.Trace(samples)
    a = q.categorical(logits=one, name="a", gradient="enumerate")
    b = q.categorical(logits=table[a], name="b", gradient="enumerate")
    exact = torch.einsum("na,ab,ab->n", one.softmax(-1), table.softmax(-1), F)
    close(expect(q, f_of(a, b)), exact, one, table)


def test_a_value_that_an_enumerated_site_does_not_touch() -> None:
    q = unknot.Trace()
    q.categorical(logits=torch.randn(B, 2), name="a", gradient="enumerate")
    torch.testing.assert_close(expect(q, torch.arange(3.0)), torch.arange(3.0))


def test_known_labels_take_all_the_weight() -> None:
    one, other = torch.randn(B, 2, requires_grad=True), torch.randn(B, 3, requires_grad=True)
    labels = unknot.partial([1, -1, 0])
    q = unknot.Trace()
    a = q.categorical(logits=one, value=labels, name="a", gradient="enumerate")
    b = q.one_hot_categorical(
        logits=other, value=unknot.partial([-1, 2, 1]), name="b", gradient="enumerate"
    ).argmax(-1)
    first = torch.where(labels.known[:, None], torch.eye(2)[[1, 0, 0]], one.softmax(-1))
    second = torch.where(
        torch.tensor([False, True, True])[:, None], torch.eye(3)[[0, 2, 1]], other.softmax(-1)
    )
    close(expect(q, f_of(a, b)), torch.einsum("na,nb,ab->n", first, second, F), one, other)
    assert q["a"].log_prob[:, 0, 0].exp().sum().item() == pytest.approx(1.0)  # the site itself stays a mass


def test_enumeration_with_a_pathwise_draw_below() -> None:
    """z ~ N(m[a], 1), drawn anew for each a: E z over a and z has gradient m[1] - m[0] through the weights."""
    logits = torch.zeros(20_000, 2, requires_grad=True)
    means = torch.tensor([1.0, 4.0])
    q = unknot.Trace(samples=2)
    a = q.categorical(logits=logits, name="a", gradient="enumerate")
    z = q.normal(means[a], 1.0, name="z", event_dims=0)
    assert z.shape == (2, 2, 20_000)
    value = expect(q, z)
    assert_mean(value.detach(), torch.tensor(2.5))
    slope = torch.autograd.grad(value.sum(), logits)[0]
    assert_mean(slope, torch.tensor([-0.75, 0.75]))


def replicated(*logits: list) -> list[Tensor]:
    return [torch.tensor(row).expand(20_000, -1).clone().requires_grad_() for row in logits]


@pytest.mark.parametrize("samples", [None, 2, 5])
def test_a_scored_draw_above_an_enumerated_site(samples: int | None) -> None:
    """The enumerated weights depend on the draw, so the baseline must come after their sum."""
    (logits,) = replicated([0.3, -0.4])
    table = torch.tensor([[1.0, -1.0, 0.0], [-2.0, 0.5, 1.0]])
    q = unknot.Trace(samples)
    a = q.categorical(logits=logits, name="a", gradient="score_function")
    b = q.categorical(logits=table[a], name="b", gradient="enumerate")
    slope = torch.autograd.grad(expect(q, f_of(a, b)).sum(), logits)[0]
    theta = torch.tensor([0.3, -0.4], requires_grad=True)
    exact = torch.einsum("a,ab,ab->", theta.softmax(-1), table.softmax(-1), F)
    assert_mean(slope, torch.autograd.grad(exact, theta)[0])


@pytest.mark.parametrize("samples", [None, 2, 5])
def test_a_scored_draw_below_an_enumerated_site(samples: int | None) -> None:
    first, second = replicated([0.3, -0.4], [0.1, 0.2, -0.5])
    shift = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    q = unknot.Trace(samples)
    a = q.categorical(logits=first, name="a", gradient="enumerate")
    b = q.categorical(logits=second + shift[a], name="b", gradient="score_function")
    slopes = torch.autograd.grad(expect(q, f_of(a, b)).sum(), (first, second))
    one, other = (torch.tensor(row, requires_grad=True) for row in ([0.3, -0.4], [0.1, 0.2, -0.5]))
    exact = torch.einsum("a,ab,ab->", one.softmax(-1), (other + shift).softmax(-1), F)
    for mine, theirs in zip(slopes, torch.autograd.grad(exact, (one, other)), strict=True):
        assert_mean(mine, theirs)


def test_two_scored_draws_in_a_chain() -> None:
    (first,) = replicated([0.3, -0.4])
    table = torch.tensor([[1.0, -1.0, 0.0], [-2.0, 0.5, 1.0]], requires_grad=True)
    q = unknot.Trace(samples=3)
    a = q.categorical(logits=first, name="a")
    rows = table.expand(20_000, 2, 3).clone()
    rows.retain_grad()
    b = q.categorical(logits=rows[torch.arange(20_000), a], name="b")
    expect(q, f_of(a, b)).sum().backward()
    one = torch.tensor([0.3, -0.4], requires_grad=True)
    exact = torch.einsum("a,ab,ab->", one.softmax(-1), table.softmax(-1), F)
    by_one, by_table = torch.autograd.grad(exact, (one, table))
    assert first.grad is not None
    assert rows.grad is not None
    assert_mean(first.grad, by_one)
    assert_mean(rows.grad, by_table)


def test_labels_carry_no_score() -> None:
    logits = torch.zeros(2, 2, requires_grad=True)
    q = unknot.Trace(samples=4)
    a = q.categorical(logits=logits, value=unknot.partial([1, -1]), name="a")
    (slope,) = torch.autograd.grad(expect(q, a.float() * 3).sum(), logits)
    assert slope[0].tolist() == [0.0, 0.0]
    assert bool((slope[1] != 0).any())


def test_samples_that_share_one_draw() -> None:
    """A sub-model without samples inside one with samples: all samples depend on the one draw of a."""
    (logits,) = replicated([0.3, -0.4])
    inner = unknot.Trace()
    a = inner.categorical(logits=logits, name="a", gradient="score_function")  # (B,)
    q = unknot.Trace(samples=3)
    q.include(inner, "inner")
    b = q.categorical(logits=torch.zeros(20_000, 3), name="b", gradient="score_function")  # (S, B)
    slope = torch.autograd.grad(expect(q, f_of(a, b)).sum(), logits)[0]
    theta = torch.tensor([0.3, -0.4], requires_grad=True)
    exact = (theta.softmax(-1) * F.mean(1)).sum()
    assert_mean(slope, torch.autograd.grad(exact, theta)[0])


def test_items_switched_off_still_have_weights_that_sum_to_one() -> None:
    q = unknot.Trace()
    with q.where(torch.tensor([True, False, True])):
        q.categorical(logits=torch.randn(B, 2), name="a", gradient="enumerate")
    torch.testing.assert_close(expect(q, torch.ones(B)), torch.ones(B))
    assert q["a"].log_prob[:, 0, 1].tolist() == [0.0, 0.0]


def test_averages_over_samples() -> None:
    q = unknot.Trace(samples=4)
    q.normal(torch.zeros(B), 1.0, name="z")
    values = torch.randn(4, B)
    torch.testing.assert_close(expect(q, values), values.mean(0))
    torch.testing.assert_close(expect(unknot.Trace(), values[0]), values[0])
