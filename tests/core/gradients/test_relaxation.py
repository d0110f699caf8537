"""Relaxed draws, soft and straight-through: the draw of the same seed and its gradient, derived by hand."""

from __future__ import annotations

import pytest
import torch

import unknot
from tests.core.gradients.by_hand import SLOPE, TAU, B, K, drawn, gumbel, softmax_gradient
from tests.statistics import assert_mean
from unknot.core.expectation import expect


def test_concrete() -> None:
    _, logits, y = drawn("concrete", "concrete", temperature=TAU)
    expected = ((logits + gumbel()) / TAU).softmax(-1)
    torch.testing.assert_close(y, expected)
    (slope,) = torch.autograd.grad((SLOPE * y).sum(), logits)
    torch.testing.assert_close(slope, softmax_gradient(expected, SLOPE, TAU))


def test_straight_through_at_a_concrete_site() -> None:
    q, logits, y = drawn("concrete", "straight_through", temperature=TAU)
    soft = ((logits + gumbel()) / TAU).softmax(-1)
    assert torch.equal(y, torch.nn.functional.one_hot(soft.argmax(-1), K).float())
    (slope,) = torch.autograd.grad((SLOPE * y).sum(), logits, retain_graph=True)
    torch.testing.assert_close(slope, softmax_gradient(soft, SLOPE, TAU))
    torch.testing.assert_close(q["y"].log_prob, (y * logits.log_softmax(-1)).sum(-1))  # scored by its mass


def test_straight_through_at_a_discrete_site() -> None:
    _, logits, y = drawn("one_hot_categorical", "straight_through")
    assert bool(((y == 0) | (y == 1)).all())
    assert y.sum(-1).tolist() == [1.0] * B
    (slope,) = torch.autograd.grad((SLOPE * y).sum(), logits)
    torch.testing.assert_close(slope, softmax_gradient(logits.softmax(-1), SLOPE))


def test_the_divergence_of_straight_through_classes_has_a_gradient() -> None:
    """log p - log q at a hard y, its gradient through y as through the probabilities: the exact KL's, on average.

    Backward, d/dy is log p - log q for every class and dy/dlogits that of the softmax: with -d log q/d logits added,
    whose mean is zero, the gradient of Σ_k π_k log(p_k / π_k).
    """
    logits = torch.tensor([0.3, -0.2, 0.8, 0.1], requires_grad=True)
    prior = torch.tensor([0.5, 0.0, -0.5, 0.2])
    q, p = unknot.Trace(samples=400), unknot.Trace()
    q.one_hot_categorical(logits=logits.expand(1, K), gradient="straight_through", name="y")
    p.one_hot_categorical(logits=prior, value=q["y"], name="y")
    draws = (p.log_prob() - q.log_prob())[:, 0]
    slopes = torch.stack([torch.autograd.grad(d, logits, retain_graph=True)[0] for d in draws])
    probs = logits.softmax(-1)
    exact = (probs * (prior.log_softmax(-1) - probs.log())).sum()
    assert_mean(slopes, torch.autograd.grad(exact, logits)[0])


@pytest.mark.parametrize("gradient", ["straight_through", "plug_in"])
def test_binary_sites(gradient: str) -> None:
    """d y / d logit = σ'(logit), at a Bernoulli site."""
    logits = torch.randn(B, requires_grad=True)
    q = unknot.Trace()
    y = q.bernoulli(logits=logits, name="y", gradient=gradient)
    (slope,) = torch.autograd.grad((3 * y).sum(), logits)
    torch.testing.assert_close(slope, 3 * logits.sigmoid() * (1 - logits.sigmoid()))
    if gradient == "plug_in":
        torch.testing.assert_close(y, logits.sigmoid())
    else:
        assert set(y.tolist()) <= {0.0, 1.0}


def test_binary_concrete() -> None:
    logits = torch.randn(B, requires_grad=True)
    q = unknot.Trace()
    torch.manual_seed(1)
    y = q.relaxed_bernoulli(TAU, logits=logits, name="y")
    torch.manual_seed(1)
    uniform = torch.empty(B).uniform_()
    expected = ((logits + uniform.log() - (1 - uniform).log()) / TAU).sigmoid()
    torch.testing.assert_close(y, expected)
    (slope,) = torch.autograd.grad(y.sum(), logits)
    torch.testing.assert_close(slope, expected * (1 - expected) / TAU)


@pytest.mark.parametrize("gradient", ["plug_in", "straight_through"])
def test_biased_estimators_are_exact_for_linear_f(gradient: str) -> None:
    """At a discrete site E (a · y) = a · π, and both gradients are that of a · π."""
    _, logits, y = drawn("one_hot_categorical", gradient)
    q = unknot.Trace()
    all_values = q.one_hot_categorical(logits=logits, name="y", gradient="enumerate")
    exact = torch.autograd.grad(expect(q, (SLOPE * all_values).sum(-1)).sum(), logits)[0]
    torch.testing.assert_close(torch.autograd.grad((SLOPE * y).sum(), logits)[0], exact)
