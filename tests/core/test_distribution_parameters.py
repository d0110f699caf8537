import pytest
import torch
from torch.distributions import (
    Beta,
    Categorical,
    Distribution,
    ExpTransform,
    Gamma,
    Independent,
    LogNormal,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
    RelaxedOneHotCategorical,
    TransformedDistribution,
)

from unknot.core.distribution_parameters import map_parameters
from unknot.core.relaxed import Concrete
from unknot.errors import SpecError

B = 3
EYE = torch.eye(2).expand(B, 2, 2)


def ones(*shape: int) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, torch.Size(shape).numel()).reshape(shape)


@pytest.mark.parametrize(
    "dist",
    [
        Normal(ones(B, 2), 1.0),
        Independent(Normal(ones(B, 2), ones(B, 2)), 1),
        Gamma(ones(B, 2), ones(B, 2)),
        Beta(ones(B, 2), ones(B, 2)),
        LogNormal(ones(B, 2), ones(B, 2)),
        Categorical(logits=ones(B, 4)),
        Categorical(probs=ones(B, 4)),
        RelaxedOneHotCategorical(torch.tensor(0.66), logits=ones(B, 4)),
        Concrete(ones(B, 4), torch.tensor(0.66)),
        MultivariateNormal(ones(B, 2), scale_tril=EYE),
        MultivariateNormal(ones(B, 2), covariance_matrix=EYE),
        MixtureSameFamily(Categorical(logits=ones(B, 4)), Normal(ones(B, 4), ones(B, 4))),
    ],
    ids=lambda dist: type(dist).__name__,
)
def test_doubling_the_items_doubles_the_log_probabilities(dist: Distribution) -> None:
    torch.manual_seed(0)
    value = dist.sample()
    if isinstance(dist, Categorical | MultivariateNormal):  # fill the caches of the other parametrisations
        _ = (
            getattr(dist, "probs", None),
            getattr(dist, "logits", None),
            getattr(dist, "precision_matrix", None),
        )
    twice = map_parameters(dist, lambda parameter: torch.cat([parameter, parameter.flip(0)]))
    assert twice.batch_shape == (2 * B, *dist.batch_shape[1:])
    expected = torch.cat([dist.log_prob(value), dist.log_prob(value)])
    torch.testing.assert_close(
        twice.log_prob(torch.cat([value, value.flip(0)])), expected[[0, 1, 2, 5, 4, 3]]
    )


def test_a_distribution_that_forgets_its_arguments_is_refused() -> None:
    dist = TransformedDistribution(Normal(ones(B), ones(B)), [ExpTransform()])
    with pytest.raises(SpecError, match="base_distribution"):
        map_parameters(dist, lambda parameter: parameter)
