"""Joining distributions parameter by parameter."""

import pytest
import torch
from torch.distributions import Categorical, Independent, Laplace, MultivariateNormal, Normal

from unknot.core.relaxed import Concrete
from unknot.errors import SpecError
from unknot.objectives.marginal.gather import join_distributions, parameters


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Normal(torch.randn(n, 3), torch.ones(n, 3)),
        lambda n: Independent(Normal(torch.randn(n, 3), 2.0), 1),
        lambda n: Categorical(logits=torch.randn(n, 4)),
        lambda n: Concrete(torch.randn(n, 4), 0.66),
        lambda n: MultivariateNormal(torch.randn(n, 2), torch.eye(2).expand(n, 2, 2)),
    ],
)
def test_items_of_two_distributions_stand_one_after_the_other(make):
    one, other = make(2), make(3)
    both = join_distributions([one, other], torch.cat)
    value = both.sample()
    logs = torch.cat([one.log_prob(value[:2]), other.log_prob(value[2:])])
    torch.testing.assert_close(both.log_prob(value), logs)


def test_each_parameter_is_met_once_whatever_was_computed_from_it():
    dist = Categorical(logits=torch.randn(2, 4))
    _ = dist.probs
    assert len(parameters(dist)) == 1


def test_families_do_not_mix():
    with pytest.raises(SpecError, match="Laplace, Normal"):
        join_distributions([Normal(torch.zeros(2), 1.0), Laplace(torch.zeros(2), 1.0)], torch.cat)
