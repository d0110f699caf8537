"""Single dimensions under other items' parameters, element by element."""

import pytest
import torch
from torch.distributions import Independent, MultivariateNormal, Normal

import unknot
from unknot.errors import SpecError
from unknot.objectives.marginal.leaf_logs import own_logs, pair_logs


def test_every_dimension_of_every_pair():
    q = unknot.Trace()
    q.normal(torch.randn(3, 2), 0.5, name="z")
    columns = Independent(Normal(torch.randn(4, 2), torch.rand(4, 2) + 0.5), 1)
    logs = pair_logs(q["z"], columns, torch.zeros(3, 4))
    for b in range(3):
        torch.testing.assert_close(logs[b], columns.base_dist.log_prob(q["z"].value[b]))
    torch.testing.assert_close(own_logs(q["z"], q["z"].dist), q["z"].dist.log_prob(q["z"].value))


def test_one_event_has_the_joint_as_its_leaf():
    q = unknot.Trace()
    q.variable(MultivariateNormal(torch.zeros(3, 2), torch.eye(2)), name="z")
    joint = torch.randn(3, 4)
    columns = MultivariateNormal(torch.zeros(4, 2), torch.eye(2))
    assert torch.equal(pair_logs(q["z"], columns, joint), joint[..., None])


def test_relaxed_yes_or_no_by_density_where_drawn_and_by_mass_where_known():
    q = unknot.Trace()
    labels = unknot.partial(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.tensor([True, False]))
    q.relaxed_bernoulli(0.5, logits=torch.randn(2, 2), value=labels, name="on")
    node = q["on"]
    logs = own_logs(node, node.dist)
    torch.testing.assert_close(logs[0], node.dist.log_mass(node.value)[0])
    torch.testing.assert_close(logs[1], node.dist.log_density(node.unbounded)[1])


def test_no_closed_form_is_refused_by_name():
    q = unknot.Trace()
    q.dirichlet(torch.ones(2, 3), name="share")
    with pytest.raises(SpecError, match="'share'"):
        own_logs(q["share"], q["share"].dist)
