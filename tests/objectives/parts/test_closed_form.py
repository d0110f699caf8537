"""Divergences in closed form: the mean of the sampled term, and refused where they would be another quantity."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from tests.references import linear_gaussian
from tests.statistics import assert_mean
from unknot.objectives import elbo

X = torch.tensor([-1.5, 0.2, 2.4], dtype=torch.float64)


def test_closed_form_is_the_divergence_and_the_mean_of_the_sampled_one() -> None:
    mean, std = X * 0.3, 0.8
    closed = elbo(*linear_gaussian.run(X, mean, std, 2), analytic=True)["kl[z]"]
    torch.testing.assert_close(closed, -0.5 * (mean**2 + std**2 - 1) + torch.tensor(std).log())
    sampled = [elbo(*linear_gaussian.run(X, mean, std, 500))["kl[z]"] for _ in range(50)]
    assert_mean(torch.stack(sampled), closed)


def test_closed_form_sums_over_an_item_and_keeps_observed_values() -> None:
    def run(samples: int, analytic: bool) -> Tensor:
        q, p = unknot.Trace(samples=samples), unknot.Trace()
        known = unknot.partial(torch.tensor([[0.5, 1.0], [0.0, 0.0]]), [True, False])
        q.normal(torch.tensor([[0.1, 0.2], [0.3, -0.4]]), 0.5, value=known, name="z")
        p.normal(0.0, 1.0, value=q["z"], name="z")
        return elbo(q, p, analytic=analytic)["kl[z]"]

    closed = run(1, analytic=True)
    prior = torch.distributions.Normal(0.0, 1.0)
    torch.testing.assert_close(closed[0], prior.log_prob(torch.tensor([0.5, 1.0])).sum())
    assert_mean(torch.stack([run(500, analytic=False) for _ in range(50)]), closed)


@pytest.mark.parametrize("gradient", ["score_function", "straight_through"])
def test_closed_form_of_a_hard_concrete_draw_is_the_categorical_divergence(gradient: str) -> None:
    logits = torch.tensor([[0.3, -1.0, 0.5]])

    def run(samples: int, analytic: bool) -> Tensor:
        q, p = unknot.Trace(samples=samples), unknot.Trace()
        q.concrete(logits, 0.66, name="y", gradient=gradient)
        p.concrete(torch.zeros(3), 0.66, value=q["y"], name="y")
        return elbo(q, p, analytic=analytic)["kl[y]"].detach()

    pi = logits.softmax(-1)
    closed = run(1, analytic=True)
    torch.testing.assert_close(closed, -(pi * (pi * 3).log()).sum(-1))
    assert_mean(torch.stack([run(500, analytic=False) for _ in range(50)]), closed)


def test_no_closed_form_where_p_looks_at_a_later_draw() -> None:
    """q: z, then y given z; p: y, then z given y. KL(q(z) || p(z | y)) at one draw is not the expectation."""
    q, p = unknot.Trace(samples=4), unknot.Trace()
    z = q.normal(torch.zeros(2, 1), 1.0, name="z")
    y = q.normal(2 * z, 0.1, name="y")
    p.normal(0.0, 2.0, value=q["y"], name="y")
    p.normal(y / 2, 0.5, value=q["z"], name="z")
    terms = elbo(q, p, analytic=True)
    torch.testing.assert_close(terms["kl[z]"], (p["z"].log_prob - q["z"].log_prob).mean(0))
    assert not torch.equal(terms["kl[y]"], (p["y"].log_prob - q["y"].log_prob).mean(0))


def test_a_relaxed_draw_has_no_closed_form_and_stays_sampled() -> None:
    q, p = unknot.Trace(samples=4), unknot.Trace()
    q.concrete(torch.zeros(2, 3), 0.66, name="y")
    p.concrete(torch.tensor([0.0, 0.5, 1.0]), 0.66, value=q["y"], name="y")
    torch.testing.assert_close(elbo(q, p, analytic=True)["kl[y]"], elbo(q, p)["kl[y]"])
