"""Two views: one program for items with and without the second view, against closed forms for each kind of item."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal

import unknot
from tests.examples.loading import load

recipe = load("recipes/two_views")
SEEN = torch.tensor([True, False, True, False])


@pytest.fixture
def views(double: None) -> tuple[Tensor, Tensor]:
    x1, x2 = torch.randn(4, recipe.FEATURES), torch.randn(4, recipe.FEATURES)
    return x1, torch.where(SEEN[:, None], x2, torch.nan)


def bound(encoder, decoder, x1: Tensor, x2: Tensor, seen: Tensor) -> Tensor:
    with unknot.seed(1):
        q = unknot.trace(encoder, x1, x2, seen)
        p = unknot.trace(decoder, x1, x2, seen, q)
    return unknot.objectives.elbo(q, p).per_item


@torch.no_grad()
@pytest.mark.parametrize("fill_in", [False, True])
def test_with_exact_experts_the_bound_is_the_evidence_of_the_views_that_are_present(
    views: tuple[Tensor, Tensor], fill_in: bool
) -> None:
    """For a linear decoder with orthogonal columns the posterior is a product of diagonal Gaussian experts."""
    x1, x2 = views
    encoder, decoder = recipe.Encoder(), recipe.Decoder(fill_in)
    decoder.log_scale.copy_(torch.tensor([-0.4, 0.3]))
    scales = decoder.log_scale.exp()
    for place, (view, expert) in enumerate(
        [(decoder.first, encoder.first), (decoder.second, encoder.second)]
    ):
        columns = torch.linalg.qr(torch.randn(recipe.FEATURES, recipe.CODES))[0] * torch.tensor([0.7, 1.6])
        view.weight.copy_(columns)
        shift = columns.T / scales[place] ** 2
        expert.weight.copy_(torch.cat([shift, torch.zeros_like(shift)]))
        expert.bias.copy_(
            torch.cat([-shift @ view.bias, (columns**2).sum(0).log() - 2 * scales[place].log()])
        )
    found = bound(encoder, decoder, x1, x2, SEEN)
    noise = torch.cat([scale.expand(recipe.FEATURES) ** 2 for scale in scales])
    loadings, loc = (
        torch.cat([decoder.first.weight, decoder.second.weight]),
        torch.cat([decoder.first.bias, decoder.second.bias]),
    )
    for i in range(4):
        size = 2 * recipe.FEATURES if SEEN[i] else recipe.FEATURES
        covariance = (loadings @ loadings.T + noise.diag())[:size, :size]
        evidence = MultivariateNormal(loc[:size], covariance).log_prob(torch.cat([x1[i], x2[i]])[:size])
        torch.testing.assert_close(found[i], evidence)


def test_the_bound_of_items_without_the_view_is_that_of_a_model_of_one_view(
    views: tuple[Tensor, Tensor],
) -> None:
    x1, x2 = views
    encoder, decoder = recipe.Encoder(), recipe.Decoder()
    found = bound(encoder, decoder, x1, x2, SEEN)
    with unknot.seed(1):
        noise = torch.randn(4, recipe.CODES)
    shift, log_precision = encoder.first(x1).chunk(2, -1)
    precision = 1 + log_precision.exp()
    q = Normal(shift / precision, precision**-0.5)
    z = q.loc + q.scale * noise
    data = Normal(decoder.first(z), decoder.log_scale[0].exp()).log_prob(x1).sum(-1)
    alone = data + (Normal(0.0, 1.0).log_prob(z) - q.log_prob(z)).sum(-1)
    torch.testing.assert_close(found[~SEEN], alone[~SEEN])
    grads = torch.autograd.grad(found[~SEEN].sum(), [*encoder.parameters(), *decoder.parameters()])
    for name, gradient in zip(
        [n for n, _ in (*encoder.named_parameters(), *decoder.named_parameters())], grads, strict=True
    ):
        if name.startswith("second"):
            assert (gradient == 0).all()


def test_where_and_partial_give_the_same_bound_and_gradient(views: tuple[Tensor, Tensor]) -> None:
    x1, x2 = views
    encoder, decoder = recipe.Encoder(), recipe.Decoder()
    parameters = [*encoder.parameters(), *decoder.parameters()]
    results = []
    for decoder.fill_in in (False, True):
        found = bound(encoder, decoder, x1, x2, SEEN)
        results.append([found, *torch.autograd.grad(found.sum(), parameters)])
    for left_out, filled_in in zip(*results, strict=True):
        torch.testing.assert_close(left_out, filled_in)
