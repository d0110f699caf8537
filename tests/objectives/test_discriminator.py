"""FactorVAE's discriminator: permutation, its loss, and the density ratio it learns."""

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import Encoder, data
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
    assert [whole for _, whole in joined_draws(q, None)] == [True, False, False]


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
    optimiser = torch.optim.Adam(discriminator.parameters(), 2e-3)
    for _ in range(1500):
        optimiser.zero_grad()
        discriminator_loss(discriminator, draw(512)).backward()
        optimiser.step()
    with torch.no_grad():
        estimate = discriminator_log_ratio(discriminator, draw(20_000)).mean()
    assert abs(estimate - -0.5 * torch.tensor(1 - r**2).log()) < 0.1
