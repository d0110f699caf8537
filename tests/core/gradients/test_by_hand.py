"""Same seed, gradient derived by hand: what each estimator is, draw by draw; where the biased ones are exact."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from unknot.core.expectation import expect
from unknot.core.gradients.score_function import RunningMean, leave_one_out

B, K, TAU = 6, 4, 0.7
SLOPE = torch.tensor([1.0, -2.0, 0.5, 3.0])  # f(y) = a · y


def softmax_gradient(y: Tensor, slope: Tensor, temperature: float = 1.0) -> Tensor:
    """d(a · y)/d logits for y = softmax(logits / τ): y_j (a_j - a · y) / τ."""
    return y * (slope - (slope * y).sum(-1, keepdim=True)) / temperature


def drawn(family: str, gradient: str, **arguments: Tensor | float) -> tuple[unknot.Trace, Tensor, Tensor]:
    logits = torch.randn(B, K, requires_grad=True)
    q = unknot.Trace()
    torch.manual_seed(1)
    y = getattr(q, family)(logits=logits, name="y", gradient=gradient, **arguments)
    return q, logits, y


def gumbel() -> Tensor:
    torch.manual_seed(1)
    return -torch.empty(B, K).exponential_().log()


def test_pathwise() -> None:
    loc, scale = torch.randn(B, K, requires_grad=True), (torch.rand(B, K) + 0.5).requires_grad_()
    q = unknot.Trace()
    torch.manual_seed(1)
    z = q.normal(loc, scale, name="z")
    torch.manual_seed(1)
    epsilon = torch.empty(B, K).normal_()
    torch.testing.assert_close(z, loc + scale * epsilon)
    by_loc, by_scale = torch.autograd.grad((z**2).sum(), (loc, scale))
    torch.testing.assert_close(by_loc, 2 * z)
    torch.testing.assert_close(by_scale, 2 * z * epsilon)


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


@pytest.mark.parametrize(
    ("family", "more"), [("concrete", {"temperature": TAU}), ("one_hot_categorical", {})]
)
def test_plug_in(family: str, more: dict[str, float]) -> None:
    """f(π) for E f(y); for a nonlinear f the gradient is f'(π) times the softmax's."""
    _, logits, y = drawn(family, "plug_in", **more)
    torch.testing.assert_close(y, logits.softmax(-1))
    (slope,) = torch.autograd.grad(((SLOPE * y) ** 2).sum(), logits)
    probs = logits.softmax(-1)
    torch.testing.assert_close(slope, softmax_gradient(probs, 2 * SLOPE**2 * probs))


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


def test_plug_in_gives_the_exact_kl() -> None:
    """log q - log p at y = π is Σ_k π_k log(π_k / p_k)."""
    q, logits, _ = drawn("concrete", "plug_in", temperature=TAU)
    prior = torch.randn(K)
    p = unknot.Trace()
    p.concrete(prior, TAU, value=q["y"], name="y")
    exact = (logits.softmax(-1) * (logits.log_softmax(-1) - prior.log_softmax(-1))).sum(-1)
    ours = q.log_prob() - p.log_prob()
    torch.testing.assert_close(ours, exact)
    torch.testing.assert_close(
        *(torch.autograd.grad(t.sum(), logits, retain_graph=True)[0] for t in (ours, exact))
    )


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
    baseline(torch.tensor([2.0, 4.0]))
    baseline(torch.tensor([0.0]))
    assert baseline.mean.item() == pytest.approx(2.7)
    twin = RunningMean(decay=0.9)
    twin.load_state_dict(baseline.state_dict())
    assert twin(torch.tensor([1.0])).item() == pytest.approx(2.7)
    twin.eval()
    before = twin.mean.clone()
    twin(torch.tensor([100.0]))
    assert torch.equal(twin.mean, before)  # evaluation leaves it alone


def test_a_uniform_site_has_no_score_function() -> None:
    """Its support moves with the parameters, so the score misses the edges."""
    with pytest.raises(
        unknot.UnknotError, match="'score_function' does not fit Uniform; choose one of pathwise"
    ):
        unknot.Trace().uniform(torch.zeros(2), 1.0, name="u", gradient="score_function")
    high = torch.full((B,), 2.0, requires_grad=True)
    q = unknot.Trace()
    torch.manual_seed(1)
    u = q.uniform(0.0, high, name="u")
    (slope,) = torch.autograd.grad((u**2).sum(), high)
    torch.testing.assert_close(slope, 2 * u * u / 2.0)
