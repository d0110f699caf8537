"""Single dimensions under other items' parameters, element by element; those of vectors against integrals."""

import pytest
import torch
from torch.distributions import (
    AffineTransform,
    Categorical,
    ComposeTransform,
    Dirichlet,
    Distribution,
    ExpTransform,
    Independent,
    IndependentTransform,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
    OneHotCategorical,
    StickBreakingTransform,
    TransformedDistribution,
)

import unknot
from unknot.errors import SpecError
from unknot.objectives.marginal.leaf_logs import is_one_leaf, leaf_log_probs, own_logs, pair_logs


def test_every_dimension_of_every_pair():
    q = unknot.Trace()
    q.normal(torch.randn(3, 2), 0.5, name="z")
    columns = Independent(Normal(torch.randn(4, 2), torch.rand(4, 2) + 0.5), 1)
    logs = pair_logs(q["z"], columns, torch.zeros(3, 4))
    for b in range(3):
        torch.testing.assert_close(logs[b], columns.base_dist.log_prob(q["z"].value[b]))
    torch.testing.assert_close(own_logs(q["z"], q["z"].dist), q["z"].dist.log_prob(q["z"].value))


def test_a_class_has_the_joint_as_its_leaf():
    q = unknot.Trace()
    q.one_hot_categorical(logits=torch.zeros(3, 2), name="y")
    joint = torch.randn(3, 4)
    assert torch.equal(pair_logs(q["y"], OneHotCategorical(torch.ones(4, 2)), joint), joint[..., None])


def test_a_multivariate_normal_has_its_dimensions_as_leaves():
    q, covariance = unknot.Trace(), torch.tensor([[4.0, 1.0], [1.0, 9.0]])
    q.variable(MultivariateNormal(torch.randn(3, 2), covariance), name="z")
    columns = MultivariateNormal(torch.randn(4, 2), covariance)
    single = Normal(columns.loc, torch.tensor([2.0, 3.0]))
    logs = pair_logs(q["z"], columns, torch.zeros(3, 4))
    for b in range(3):
        torch.testing.assert_close(logs[b], single.log_prob(q["z"].value[b]))
    own = Normal(q["z"].dist.loc, torch.tensor([2.0, 3.0])).log_prob(q["z"].value)
    torch.testing.assert_close(own_logs(q["z"], q["z"].dist), own)


def density(dist: Distribution, d: int, at: float) -> float:
    """The integral over the other of two dimensions, between 0 and 8, as a sum over midpoints."""
    step = 8 / 20_000
    points = torch.full((20_000, 2), at, dtype=torch.float64)
    points[:, 1 - d] = torch.arange(20_000, dtype=torch.float64) * step + step / 2
    return float(dist.log_prob(points).exp().sum() * step)


def vectors() -> dict[str, Distribution]:
    loc = torch.tensor([3.0, 4.0], dtype=torch.float64)
    spread = torch.tensor([[0.5, 0.2], [0.2, 0.4]], dtype=torch.float64)
    joint = MultivariateNormal(loc, spread)
    log_normal = TransformedDistribution(
        MultivariateNormal(torch.zeros(2, dtype=torch.float64), spread / 4), [ExpTransform()]
    )
    components = MultivariateNormal(torch.stack([loc, loc - 1]), torch.stack([spread, spread / 2]))
    weights = Categorical(torch.tensor([0.2, 0.8], dtype=torch.float64))
    return {
        "normal": joint,
        "mixture": MixtureSameFamily(weights, components),
        "map of every dimension": log_normal,
        "composed map": TransformedDistribution(
            log_normal.base_dist, [ComposeTransform([ExpTransform(), AffineTransform(0.0, 1.5)])]
        ),
        "map of an event": TransformedDistribution(
            log_normal.base_dist, [IndependentTransform(ExpTransform(), 1)]
        ),
    }


@pytest.mark.parametrize("family", vectors())
def test_a_leaf_is_the_integral_over_the_other_dimensions(family):
    dist, value = vectors()[family], torch.tensor([2.5, 3.5], dtype=torch.float64)
    logs = leaf_log_probs(dist, value)
    for d in range(2):
        assert float(logs[d].exp()) == pytest.approx(density(dist, d, float(value[d])), rel=1e-4)


def test_a_share_of_a_dirichlet_is_the_integral_over_the_others():
    dist = Dirichlet(torch.tensor([1.5, 2.0, 3.0], dtype=torch.float64))
    first, step = 0.3, 0.7 / 100_000
    second = torch.arange(100_000, dtype=torch.float64) * step + step / 2
    points = torch.stack([torch.full_like(second, first), second, 0.7 - second], -1)
    wanted = float(dist.log_prob(points).exp().sum() * step)
    found = leaf_log_probs(dist, torch.tensor([first, 0.2, 0.5], dtype=torch.float64))
    assert found.shape == (2,)
    assert float(found[0].exp()) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("dist", "one"),
    [
        (Normal(0.0, 1.0), True),
        (OneHotCategorical(torch.ones(3)), True),
        (MixtureSameFamily(Categorical(torch.ones(2)), OneHotCategorical(torch.ones(2, 3))), True),
        (MultivariateNormal(torch.zeros(1), torch.eye(1)), True),
        (MultivariateNormal(torch.zeros(2), torch.eye(2)), False),
        (Dirichlet(torch.ones(3)), False),
    ],
    ids=str,
)
def test_a_number_and_one_of_k_are_one_leaf(dist, one):
    assert is_one_leaf(dist) is one
    assert (leaf_log_probs(dist, dist.sample()).numel() == 1) is one


def test_what_mixes_dimensions_has_no_leaves():
    base = MultivariateNormal(torch.zeros(2), torch.eye(2))
    assert (
        leaf_log_probs(TransformedDistribution(base, [StickBreakingTransform()]), torch.ones(3) / 3) is None
    )
    scaled = TransformedDistribution(Dirichlet(torch.ones(3)), [AffineTransform(0.0, 2.0)])
    assert leaf_log_probs(scaled, torch.ones(3) / 1.5) is None


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
    q.multinomial(4, logits=torch.zeros(2, 3), name="counts")
    with pytest.raises(SpecError, match=r"site 'counts': .* q's Multinomial"):
        own_logs(q["counts"], q["counts"].dist)
