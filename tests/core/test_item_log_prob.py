"""The early sums give what dist.log_prob followed by a sum gives."""

import math

import pytest
import torch
from torch.distributions import Bernoulli, Distribution, Independent, Laplace, Normal, OneHotCategorical

from unknot.core.item_log_prob import item_log_prob

# value shape, event_dims, shapes of the parameters
SHAPES = [
    ((4, 5), 1, ((4, 5), (4, 5))),
    ((4, 5), 1, ((), ())),
    ((4, 5), 1, ((5,), ())),
    ((4, 5), 1, ((4, 5), (4, 1))),
    ((4, 5), 1, ((), (4, 1))),
    ((4, 5), 1, ((1, 5), (4, 1))),
    ((4, 5), 1, ((3, 4, 5), (4, 5))),
    ((4, 5), 1, ((3, 4, 5), (3, 4, 5))),
    ((3, 4, 5), 1, ((4, 5), (5,))),
    ((3, 1, 5), 1, ((3, 4, 5), ())),
    ((4,), 0, ((4,), ())),
    ((3, 4), 0, ((4,), (3, 4))),
    ((4,), 0, ((3, 4), (4,))),
    ((), 0, ((), ())),
    ((), 0, ((4,), (4,))),
    ((4, 5, 6), 2, ((4, 5, 6), ())),
    ((4, 5, 6), 2, ((6,), (5, 1))),
    ((4, 5, 6), 2, ((3, 4, 5, 6), (4, 1, 1))),
    ((2, 3, 4, 5), 1, ((4, 5), (2, 3, 4, 5))),
]


def summed(dist: Distribution, value: torch.Tensor, event_dims: int) -> torch.Tensor:
    log_prob = dist.log_prob(value)
    for _ in range(event_dims):
        log_prob = log_prob.sum(-1)
    return log_prob


def parameters(shapes: tuple[tuple[int, ...], ...]) -> tuple[torch.Tensor, torch.Tensor]:
    loc, scale = torch.randn(shapes[0]), torch.rand(shapes[1]) + 0.3
    return loc.requires_grad_(), scale.requires_grad_()


@pytest.mark.parametrize(("value", "event_dims", "shapes"), SHAPES)
@pytest.mark.parametrize("family", [Normal, Laplace])
def test_location_and_scale(value, event_dims, shapes, family) -> None:
    loc, scale = parameters(shapes)
    x = torch.randn(value)
    ours = item_log_prob(family(loc, scale), x, event_dims)
    theirs = summed(family(loc, scale), x, event_dims)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    for mine, reference in zip(
        torch.autograd.grad(ours.sum(), (loc, scale)),
        torch.autograd.grad(theirs.sum(), (loc, scale)),
        strict=True,
    ):
        torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("value", "event_dims", "shapes"), SHAPES)
@pytest.mark.parametrize("form", ["logits", "probs"])
def test_bernoulli(value, event_dims, shapes, form) -> None:
    logits, _ = parameters(shapes)
    dist = Bernoulli(logits=logits) if form == "logits" else Bernoulli(probs=logits.sigmoid())
    x = torch.randint(0, 2, value).float()
    ours, theirs = item_log_prob(dist, x, event_dims), summed(dist, x, event_dims)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    mine, reference = (torch.autograd.grad(t.sum(), logits, retain_graph=True)[0] for t in (ours, theirs))
    torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-4)


def test_bernoulli_gradient_with_respect_to_the_value() -> None:
    """Straight-through and plug-in values carry gradient: d/dx log p = logits."""
    logits, x = torch.randn(4, 5), torch.rand(4, 5, requires_grad=True)
    (gradient,) = torch.autograd.grad(item_log_prob(Bernoulli(logits=logits), x, 1).sum(), x)
    torch.testing.assert_close(gradient, logits)


def test_distributions_with_events_of_their_own() -> None:
    dist = Independent(Normal(torch.zeros(4, 5, 6), 1.0), 1)  # batch (4, 5), event (6,)
    x = torch.randn(4, 5, 6)
    torch.testing.assert_close(item_log_prob(dist, x, 2), dist.log_prob(x).sum(-1))


def test_a_vector_between_the_classes_is_scored_by_the_linear_mass() -> None:
    """Σ_k y_k log π_k, entry by entry; torch would score the largest entry's class."""
    logits, value = torch.tensor([0.5, 0.0, -0.5]), torch.tensor([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    weights = [math.exp(logit) for logit in logits.tolist()]
    expected = [
        sum(y * math.log(w / sum(weights)) for y, w in zip(row, weights, strict=True))
        for row in value.tolist()
    ]
    ours = item_log_prob(OneHotCategorical(logits=logits), value, 1)
    torch.testing.assert_close(ours, torch.tensor(expected))
