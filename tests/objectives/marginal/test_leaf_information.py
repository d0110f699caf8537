"""What each variable and dimension tells of x, draw by draw: against a loop over the items."""

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, N, data, leaf_logs
from tests.references.pairwise import mixture_loop, weight_loop
from unknot.errors import SpecError
from unknot.objectives.marginal.inference_marginal import InferenceMarginal, leaf_information


def test_it_is_the_own_density_less_the_mixture_of_all():
    q = Encoder()(data())
    tree, found = leaf_information(q, InferenceMarginal(N, parents={name: [] for name in q}))
    weights = weight_loop("stratified", N, B, range(B))
    assert list(found) == ["y", "z", "w"] == list(tree.parts)
    for name, logs in leaf_logs(q).items():
        own = logs.diagonal().mT  # log q(z_bd | x_b), (B, D)
        single = torch.stack([mixture_loop(logs[:, :, d], weights) for d in range(logs.shape[-1])], -1)
        torch.testing.assert_close(found[name].dimensions.detach(), own - single, rtol=1e-9, atol=1e-9)
        joint = own.sum(-1) - mixture_loop(logs.sum(-1), weights)
        torch.testing.assert_close(found[name].joint.detach(), joint, rtol=1e-9, atol=1e-9)


def test_labels_of_a_relaxed_binary_vector_count_by_mass_and_draws_by_density():
    logits = torch.randn(B, 2, dtype=torch.float64)
    labels = unknot.partial(torch.ones(B, 2), torch.arange(B) < 2)
    q = unknot.Trace()
    q.relaxed_bernoulli(0.5, logits=logits, value=labels, name="b")
    tree, found = leaf_information(q, InferenceMarginal(N))
    own = found["b"].dimensions + tree.parts["b"].dimensions  # log q(b_d | x) of each item itself
    torch.testing.assert_close(own[:2], logits[:2].sigmoid().log())
    torch.testing.assert_close(own[2:], q["b"].dist.log_density(q["b"].unbounded)[2:])


def test_a_class_is_one_leaf():
    q = unknot.Trace()
    q.one_hot_categorical(logits=torch.randn(B, 3, dtype=torch.float64), name="t")
    _, found = leaf_information(q, InferenceMarginal(N))
    torch.testing.assert_close(found["t"].dimensions, found["t"].joint[:, None])


def test_some_variables_alone_need_no_closed_form_of_the_others():
    q = unknot.Trace()
    q.normal(torch.randn(B, 3, dtype=torch.float64), 1.0, name="z")
    q.multinomial(4, logits=torch.zeros(B, 3, dtype=torch.float64), name="counts")
    marginals = InferenceMarginal(N, parents={name: [] for name in q})
    assert list(leaf_information(q, marginals, ["z"])[1]) == ["z"]
    with pytest.raises(SpecError, match="site 'counts'"):
        leaf_information(q, marginals)
