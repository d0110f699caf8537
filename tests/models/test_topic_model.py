"""Topic models as Trace programs."""

from __future__ import annotations

import pytest
import torch
from torch.distributions import Dirichlet

import unknot
from tests.models.test_word_networks import counts
from unknot.models.topic_model import TopicModel, laplace_spread
from unknot.objectives import elbo, hfvae


@pytest.mark.parametrize("mixing", ["product", "mixture", "linear"])
@pytest.mark.parametrize("groups", [{"topics": 4}, {"first": 2, "second": 3}])
def test_both_programs_run_on_sparse_counts(mixing: str, groups: dict[str, int]) -> None:
    model, x = TopicModel(7, groups, mixing, hidden=(6,)), counts()
    q = model.encode(x.to_sparse())
    p = model.decode(x.to_sparse(), q)
    assert list(p) == [*groups, "x"]
    terms = hfvae(q, p, dataset_size=100, beta=0.1, gamma=4.0, parents={})
    terms.loss.backward()
    assert torch.isfinite(terms.loss)
    torch.testing.assert_close(p["x"].log_prob, model.decode(x, q)["x"].log_prob)


def test_several_draws_have_an_axis() -> None:
    model, x = TopicModel(7, {"topics": 3}, hidden=(6,)).eval(), counts().to_sparse()
    q = model.encode(x, samples=6)
    assert elbo(q, model.decode(x, q)).per_item.shape == (5,)
    assert model.expected(q).shape == (6, 5, 7)


def test_documents_are_drawn() -> None:
    model = TopicModel(7, {"topics": 3}, hidden=(6,)).eval()
    drawn = model.decode(None, unknot.given(4))["x"].value
    assert drawn.shape == (4, 7)
    assert drawn.sum(-1).tolist() == [100.0] * 4


def test_the_laplace_approximation_has_the_curvature_of_the_dirichlet() -> None:
    """In the basis of the softmax the log density is sum_k a log softmax(z)_k; its curvature at 0, inverted."""
    topics, concentration = 5, 0.7
    z = torch.zeros(topics, dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(
        lambda one: concentration * one.log_softmax(-1).sum(), z
    )  # of rank K - 1: shifts of z change nothing
    spread = torch.linalg.pinv(-hessian).diagonal().sqrt()
    torch.testing.assert_close(spread, torch.full_like(spread, laplace_spread(concentration, topics)))
    assert TopicModel(7, {"topics": 5}, concentration=0.7).spread == pytest.approx(float(spread[0]))
    assert Dirichlet(torch.full((5,), 0.7)).mean.tolist() == pytest.approx(
        [0.2] * 5
    )  # softmax(0), its mode here
