"""The mixture prior's objectives against integrals over z on a grid and sums over clusters."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

import unknot
from tests.examples.loading import load

recipe = load("recipes/mixture_prior")
DRAWS = 20_000


@pytest.fixture
def model(double: None):
    encoder, decoder = recipe.Encoder(), recipe.Decoder()
    with torch.no_grad():
        decoder.y_logits += torch.tensor([0.5, 0.0, -1.0])
        decoder.z.weight *= 3  # clusters apart
    return encoder, decoder, torch.randn(1, recipe.FEATURES)


def grid() -> tuple[Tensor, float]:
    axis = torch.linspace(-9, 9, 301)
    return torch.cartesian_prod(axis, axis), (axis[1] - axis[0]).item() ** 2


def log_joint(decoder, x: Tensor, z: Tensor) -> Tensor:
    """log p(y = k) p(z | k) p(x | z), (K, G)."""
    rows = []
    for k in range(recipe.CLUSTERS):
        loc, log_scale = decoder.z.weight[:, k].chunk(2)
        prior = decoder.y_logits.log_softmax(-1)[k] + Normal(loc, log_scale.exp()).log_prob(z).sum(-1)
        rows.append(prior + Normal(decoder.x(z), decoder.x_log_scale.exp()).log_prob(x).sum(-1))
    return torch.stack(rows)


def log_proposal(encoder, x: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    """log q(k | x), (K,), and log q(z | x, k), (K, G)."""
    h = encoder.h(x)
    rows = []
    for one_hot in torch.eye(recipe.CLUSTERS):
        loc, log_scale = encoder.z(torch.cat([h[0], one_hot])).chunk(2)
        rows.append(Normal(loc, log_scale.exp()).log_prob(z).sum(-1))
    return encoder.y(h)[0].log_softmax(-1), torch.stack(rows)


@torch.no_grad()
def test_the_elbo_is_its_integral_and_below_the_evidence(model) -> None:
    encoder, decoder, x = model
    z, cell = grid()
    joint, (log_k, log_z) = log_joint(decoder, x, z), log_proposal(encoder, x, z)
    density = (log_k[:, None] + log_z).exp() * cell
    exact = (density * (joint - log_k[:, None] - log_z)).sum()
    q = unknot.trace(encoder, x.expand(DRAWS, -1))
    terms = unknot.objectives.elbo(q, unknot.trace(decoder, x.expand(DRAWS, -1), q)).per_item
    assert density.sum().item() == pytest.approx(1, abs=1e-6)
    assert terms.mean().item() == pytest.approx(exact.item(), abs=4 * (terms.std() / DRAWS**0.5).item())
    assert exact < joint.logsumexp((0, 1)) + torch.tensor(cell).log()


@torch.no_grad()
@pytest.mark.parametrize("label", [-1, 0, 2])
def test_importance_weights_average_to_the_evidence(model, label: int) -> None:
    """log p(x), or log p(x, y) of an item with a label."""
    encoder, decoder, x = model
    z, cell = grid()
    joint = log_joint(decoder, x, z)
    exact = ((joint if label < 0 else joint[label]).exp() * cell).sum()
    q = unknot.trace(encoder, x.expand(DRAWS, -1), unknot.partial(torch.full((DRAWS,), label)))
    p = unknot.trace(decoder, x.expand(DRAWS, -1), q)
    ratios = unknot.objectives.importance_weighted(q, p)["evidence"].exp() / exact
    error = (ratios.std() / DRAWS**0.5).item()
    assert error < 0.05
    assert ratios.mean().item() == pytest.approx(1, abs=4 * error)
