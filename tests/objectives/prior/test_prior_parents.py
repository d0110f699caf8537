"""Which sites of the prior depend on others: a fact of the program, never of a batch's numbers."""

import pytest
import torch
from torch import Tensor

import unknot
from unknot.errors import SpecError
from unknot.objectives import decompose
from unknot.objectives.prior.prior_parents import prior_parents

B = 6
MEANS = torch.tensor([[-2.0], [2.0]])


def encode(labels=None) -> unknot.Trace:
    q = unknot.Trace()
    q.one_hot_categorical(logits=torch.zeros(B, 2), value=labels, name="y", gradient="straight_through")
    q.normal(torch.zeros(B, 1, requires_grad=True), 1.0, name="z")
    return q


def mixture_prior(q) -> unknot.Trace:
    p = unknot.Trace()
    y = p.one_hot_categorical(logits=torch.zeros(2), value=q["y"], name="y")
    p.normal(y @ MEANS, 0.5, value=q["z"], name="z", event_dims=1)
    return p


def sites(p: unknot.Trace) -> dict:
    return {node.name: node for node in p.variables()}


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_a_batch_of_one_class_depends_on_it_all_the_same(mode):
    with mode():
        q = encode(torch.zeros(B, dtype=torch.long))
        found = prior_parents(sites(mixture_prior(q)), mixture_prior, None)
        terms = decompose(q, mixture_prior(q), 40, parents={name: [] for name in q}, prior=mixture_prior)
    assert found == {"y": [], "z": ["y"]}
    assert prior_parents(sites(mixture_prior(q)), None, None) == {"y": [], "z": ["y"]}
    z = q["z"].value
    normal = torch.distributions.Normal(MEANS[:, 0], 0.5).log_prob(z)
    exact = normal.logsumexp(-1) - torch.tensor(2.0).log()
    flat = unknot.Trace()
    flat.one_hot_categorical(logits=torch.zeros(2), value=q["y"], name="y")
    flat.normal(torch.zeros(1), 1.0, value=q["z"], name="z")
    share = terms["marginal"] - decompose(q, flat, 40, parents={name: [] for name in q})["marginal"]
    torch.testing.assert_close(share, exact - flat["z"].log_prob)


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_a_prior_on_the_input_alone_is_the_same_in_every_mode(mode):
    x = torch.randn(B, 1)

    def prior(given):
        p = unknot.Trace()
        p.one_hot_categorical(logits=torch.zeros(2), value=given["y"], name="y")
        p.normal(x, 1.0, value=given["z"], name="z", event_dims=1)
        return p

    with mode():
        q = encode()
        assert prior_parents(sites(prior(q)), prior, None) == {"y": [], "z": []}
        stated = unknot.objectives.site_parents(lambda: prior(encode()))
        assert prior_parents(sites(prior(q)), None, stated) == {"y": [], "z": []}


@pytest.mark.parametrize("cut", [Tensor.detach, lambda y: torch.eye(2)[y.argmax(-1)]])
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_a_path_without_gradient_is_refused_in_every_mode(cut, mode):
    q = unknot.Trace()
    q.concrete(torch.zeros(B, 2, requires_grad=True), 0.66, name="y")
    q.normal(torch.zeros(B, 1, requires_grad=True), 1.0, name="z")
    with mode():
        p = unknot.Trace()
        y = p.concrete(torch.zeros(2), 0.66, value=q["y"], name="y")
        p.normal(cut(y) @ MEANS, 0.5, value=q["z"], name="z", event_dims=1)
        with pytest.raises(SpecError, match="prior=lambda given"):
            decompose(q, p, 40, parents={name: [] for name in q})


def test_parameters_without_items_depend_on_nothing():
    with torch.no_grad():
        q = encode()
        p = unknot.Trace()
        p.one_hot_categorical(logits=torch.zeros(2), value=q["y"], name="y")
        p.normal(torch.zeros(1), 1.0, value=q["z"], name="z")
        assert prior_parents(sites(p), None, None) == {"y": [], "z": []}
