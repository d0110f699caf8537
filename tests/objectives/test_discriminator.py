"""FactorVAE's discriminator: permutation, its loss, and the density ratio it learns."""

import pytest
import torch
from torch.distributions import Independent, Normal

import unknot
from tests.objectives.marginal.structured_programs import Encoder, K, data
from unknot.errors import SpecError
from unknot.objectives import Discriminator, discriminator_loss
from unknot.objectives.discriminator import discriminator_log_ratio, joined_draws, permute_dimensions


def test_permuting_keeps_every_dimension_and_breaks_their_pairing():
    z = torch.arange(40.0)[:, None] + torch.tensor([0.0, 100.0, 200.0])
    permuted = permute_dimensions(z, [1, 1, 1])
    for d in range(3):
        assert sorted(permuted[:, d].tolist()) == sorted(z[:, d].tolist())
    assert not torch.equal(permuted[:, 1] - permuted[:, 0], z[:, 1] - z[:, 0])


def test_a_one_of_k_variable_stays_whole():
    z = torch.cat([torch.eye(3).repeat(5, 1), torch.arange(15.0)[:, None]], -1)
    permuted = permute_dimensions(z, [3, 1])
    assert permuted[:, :3].sum(-1).tolist() == [1.0] * 15
    q = Encoder()(data())
    assert [width for _, width in joined_draws(q, None)] == [K, 1, 1]


def test_single_dimensions_of_a_vector_are_permuted_one_by_one():
    """A multivariate normal with correlated dimensions has a total correlation that the discriminator must see."""
    q, batch = unknot.Trace(), 40
    q.multivariate_normal(torch.zeros(batch, 2), torch.tensor([[1.0, 0.9], [0.9, 1.0]]), name="z")
    q.variable(Independent(Normal(torch.zeros(batch, 3), 1.0), 1), name="w")
    q.one_hot_categorical(logits=torch.zeros(batch, 2, 4), name="y", event_dims=2)
    assert [width for _, width in joined_draws(q, None)] == [1, 1, 4]
    seen = []
    discriminator_loss(lambda z: (seen.append(z), z.sum(-1))[1], q, ["z"])
    drawn, permuted = seen
    assert sorted(permuted[:, 1].tolist()) == sorted(drawn[:, 1].tolist())
    assert not torch.equal(
        (permuted[:, 1] - permuted[:, 0]).sort().values, (drawn[:, 1] - drawn[:, 0]).sort().values
    )


def test_shares_that_add_up_to_one_are_refused_by_name():
    q = unknot.Trace()
    q.dirichlet(torch.ones(4, 3), name="topics")
    with pytest.raises(SpecError, match="site 'topics'"):
        discriminator_loss(Discriminator(3), q)


def test_the_loss_is_that_of_a_coin_for_a_constant_discriminator():
    q = Encoder()(data())
    loss = discriminator_loss(lambda z: torch.zeros(z.shape[:-1]), q)
    torch.testing.assert_close(loss, torch.tensor(2.0).log())


def test_the_loss_reaches_the_discriminator_and_not_the_encoder():
    encoder = Encoder()
    discriminator = Discriminator(9, hidden=8, layers=2).double()
    discriminator_loss(discriminator, encoder(data())).backward()
    assert all(weight.grad is not None for weight in discriminator.parameters())
    assert all(weight.grad is None for weight in encoder.parameters())


def test_the_wrong_number_of_dimensions_and_enumerated_sites_are_refused():
    with pytest.raises(SpecError, match="made for 4 dimensions"):
        discriminator_loss(Discriminator(4).double(), Encoder()(data()))
    with pytest.raises(SpecError, match="enumerated"):
        discriminator_loss(Discriminator(9), Encoder("enumerate")(data()))


@pytest.mark.slow
def test_it_learns_the_total_correlation_of_a_correlated_normal():
    """TC of two standard normals with correlation r is -½ log(1 - r²)."""
    r = 0.8
    chol = torch.linalg.cholesky(torch.tensor([[1.0, r], [r, 1.0]]))

    def draw(batch: int) -> unknot.Trace:
        q = unknot.Trace()
        q.normal(torch.randn(batch, 2) @ chol.mT * 0.999, 0.01, name="z")
        return q

    discriminator = Discriminator(2, hidden=64, layers=3)
    optimizer = torch.optim.Adam(discriminator.parameters(), 2e-3)
    for _ in range(1500):
        optimizer.zero_grad()
        discriminator_loss(discriminator, draw(512)).backward()
        optimizer.step()
    with torch.no_grad():
        estimate = discriminator_log_ratio(discriminator, draw(20_000)).mean()
    assert abs(estimate - -0.5 * torch.tensor(1 - r**2).log()) < 0.1
