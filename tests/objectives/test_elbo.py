"""The evidence lower bound: a bound, tight where it should be, with closed forms that change no expectation."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from tests.objectives.test_semi_supervised import per_item_gradients
from tests.references import linear_gaussian
from tests.references.discrete_model import GRAPHS, make_model
from tests.references.semi_supervised import equation_4, log_evidence
from tests.statistics import assert_mean
from unknot.objectives import elbo

X = torch.tensor([-1.5, 0.2, 2.4], dtype=torch.float64)


def test_is_the_log_evidence_at_the_exact_posterior_for_every_draw() -> None:
    mean, std = linear_gaussian.posterior(X)
    for samples in (None, 1, 5):
        terms = elbo(*linear_gaussian.run(X, mean, std, samples))
        torch.testing.assert_close(terms.per_item, linear_gaussian.log_evidence(X), rtol=1e-12, atol=1e-12)


def test_is_below_the_log_evidence_by_the_divergence_from_the_posterior() -> None:
    mean, std = linear_gaussian.posterior(X)
    q_mean, q_std = mean + 0.3, 2 * std
    runs = [elbo(*linear_gaussian.run(X, q_mean, q_std, 1000)).per_item for _ in range(50)]
    gap = torch.distributions.kl_divergence(
        torch.distributions.Normal(q_mean, q_std),
        torch.distributions.Normal(mean, torch.full_like(mean, std)),
    )
    assert bool((gap > 0.3).all())
    assert_mean(torch.stack(runs), linear_gaussian.log_evidence(X) - gap)


@pytest.mark.parametrize("graph", GRAPHS)
def test_enumerated_is_the_exact_bound(graph: str) -> None:
    model, x = make_model(graph), torch.tensor([0, 3])
    bound = elbo(*model.run(x, gradient="enumerate")).per_item
    exact = torch.stack([equation_4(model, int(i), {}, 0.0) for i in x])
    torch.testing.assert_close(bound, exact, rtol=1e-10, atol=1e-10)
    evidence = torch.stack([log_evidence(model, int(i), {}) for i in x])
    assert bool((bound < evidence).all())


@pytest.mark.parametrize("graph", GRAPHS)
def test_with_labels_still_bounds_the_evidence_of_data_and_labels(graph: str) -> None:
    model, x = make_model(graph), torch.tensor([0, 1, 2, 3])
    terms = elbo(*model.run(x, {"y": torch.tensor([0, 1, 2, 0])}, gradient="enumerate"))
    evidence = [log_evidence(model, i, {"y": y}) for i, y in zip(range(4), (0, 1, 2, 0), strict=True)]
    assert bool((terms.per_item < torch.stack(evidence)).all())


def test_score_function_and_enumerated_gradients_agree() -> None:
    exact = make_model("y->z")
    exact.q_tables["y"].requires_grad_()
    equation_4(exact, 1, {}, 0.0).backward()
    for way in ("score_function", "enumerate"):
        ways = {"y": way, "z": "score_function"}
        run = {"samples": 3, "gradient": ways}
        grads = per_item_gradients(make_model("y->z"), "y", 1, {}, 20_000, run, elbo)
        assert_mean(grads, exact.q_tables["y"].grad[1])


@pytest.mark.parametrize("gradient", ["pathwise", "score_function"])
def test_pathwise_and_score_function_gradients_agree_with_the_exact_one(gradient: str) -> None:
    """d/dm ELBO = -(m - m*) / s*², from the divergence of two Normals."""
    mean, std = linear_gaussian.posterior(X[2:])
    q_mean = (mean + 0.3).expand(40_000).clone().requires_grad_()
    x = X[2:].expand(40_000)
    elbo(*linear_gaussian.run(x, q_mean, std, 3, gradient)).per_item.sum().backward()
    assert_mean(q_mean.grad, torch.tensor(-0.3 / std**2))


def test_gradient_against_finite_differences_with_common_random_numbers() -> None:
    def total(mean: Tensor, log_std: Tensor) -> Tensor:
        torch.manual_seed(1)
        return elbo(*linear_gaussian.run(X, mean, log_std.exp(), 4), beta=2.5).total

    inputs = [torch.randn(3, dtype=torch.float64).requires_grad_() for _ in range(2)]
    assert torch.autograd.gradcheck(total, inputs)


def test_terms_are_named_and_beta_weighs_the_divergences() -> None:
    q, p = linear_gaussian.run(X, X * 0, 1.0, 3)
    terms = elbo(q, p, beta=4.0)
    assert list(terms) == ["reconstruction", "kl[z]"]
    torch.testing.assert_close(terms["reconstruction"], p["x"].log_prob.mean(0))
    torch.testing.assert_close(terms["kl[z]"], (p["z"].log_prob - q["z"].log_prob).mean(0))
    torch.testing.assert_close(terms.per_item, terms["reconstruction"] + 4 * terms["kl[z]"])


def test_plug_in_passes_the_probabilities_on_with_their_exact_divergence() -> None:
    logits = torch.tensor([[0.3, -1.0, 0.5], [2.0, 0.0, 0.0]])
    q, p = unknot.Trace(), unknot.Trace()
    q.concrete(logits, 0.66, name="y", gradient="plug_in")
    y = p.concrete(torch.zeros(3), 0.66, value=q["y"], name="y")
    p.normal(y, 1.0, value=torch.zeros(2, 3), name="x")
    terms, pi = elbo(q, p), logits.softmax(-1)
    torch.testing.assert_close(terms["kl[y]"], -(pi * (pi * 3).log()).sum(-1))
    torch.testing.assert_close(
        terms["reconstruction"], torch.distributions.Normal(pi, 1.0).log_prob(torch.zeros(2, 3)).sum(-1)
    )


def test_a_site_that_p_draws_itself_cancels_and_passes_its_gradient() -> None:
    prior = torch.zeros(30_000, 2, requires_grad=True)
    q, p = unknot.Trace(samples=2), unknot.Trace()
    q.normal(torch.zeros(30_000), 1.0, name="z")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    side = p.categorical(logits=prior.expand(2, -1, -1), name="side")
    p.log_term(3.0 * side, name="bonus")
    terms = elbo(q, p)
    assert set(terms) == {"reconstruction", "log_term[bonus]", "kl[z]"}
    torch.testing.assert_close(terms["log_term[bonus]"], 3.0 * side.float().mean(0))
    terms.per_item.sum().backward()
    assert_mean(prior.grad, torch.tensor([-0.75, 0.75]))  # d/dlogits of 3 P(side = 1)


def test_items_switched_off_count_zero() -> None:
    active = torch.tensor([True, False])
    for analytic in (False, True):
        q, p = unknot.Trace(samples=2), unknot.Trace()
        with q.where(active):
            q.normal(torch.ones(2), 1.0, name="z")
        with p.where(active):
            p.normal(0.0, 1.0, value=q["z"], name="z")
        terms = elbo(q, p, analytic=analytic)
        assert terms["kl[z]"][0] != 0
        assert terms["kl[z]"][1] == 0
