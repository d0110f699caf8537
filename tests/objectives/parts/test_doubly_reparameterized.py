"""Doubly reparameterized gradients: the same in expectation, without noise at the posterior, refused elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.distributions import AffineTransform, ExpTransform, Normal, TransformedDistribution

import unknot
from tests.objectives.test_semi_supervised import (
    X,
)
from tests.references import linear_gaussian
from tests.references.discrete_model import make_model
from tests.statistics import assert_mean
from unknot.errors import SpecError
from unknot.objectives import importance_weighted


def doubly(
    program: Callable[[Tensor], tuple[unknot.Trace, unknot.Trace]], start: Tensor, twice: bool
) -> Tensor:
    """Gradients of one parameter per item, (B, ...)."""
    values = start.clone().requires_grad_()
    importance_weighted(*program(values), doubly_reparameterized=twice).per_item.sum().backward()
    assert values.grad is not None
    return values.grad


def gaussian_program(values: Tensor) -> tuple[unknot.Trace, unknot.Trace]:
    x = torch.full((len(values),), 1.3, dtype=torch.float64)
    return linear_gaussian.run(x, values[:, 0], values[:, 1].exp(), samples=6)


def class_program(values: Tensor) -> tuple[unknot.Trace, unknot.Trace]:
    """Enumerated k, and a pathwise z for each k; half the items know k."""
    q, p = unknot.Trace(samples=3), unknot.Trace()
    labels = torch.where(torch.arange(len(values)) % 2 == 0, 1, -1)
    k = q.categorical(
        logits=torch.tensor([0.2, -0.3]).expand(len(values), 2),
        value=unknot.partial(labels), name="k", gradient="enumerate",
    )  # fmt: skip
    z = q.normal(values[:, 0] * (k + 1), values[:, 1].exp(), name="z")
    p.categorical(logits=torch.zeros(2), value=q["k"], name="k")
    z = p.normal(0.0, 1.0, value=q["z"], name="z")
    p.normal(z - k, 0.5, value=torch.ones(len(values), dtype=torch.float64), name="x")
    return q, p


def transformed_program(values: Tensor, cache: int = 0) -> tuple[unknot.Trace, unknot.Trace]:
    """z = s exp(ε) by two transforms, of which the outer one holds the parameter."""
    base = Normal(torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64))
    outer = AffineTransform(0.0, values[:, 1].exp(), cache_size=cache)
    mine = TransformedDistribution(base.expand((len(values),)), [ExpTransform(cache_size=cache), outer])
    q, p = unknot.Trace(samples=3), unknot.Trace()
    q.variable(mine, name="z")
    z = p.log_normal(0.3, 1.0, value=q["z"], name="z")
    p.normal(z, 0.5, value=torch.ones(len(values), dtype=torch.float64), name="x")
    return q, p


def log_normal_program(values: Tensor) -> tuple[unknot.Trace, unknot.Trace]:
    q, p = unknot.Trace(samples=3), unknot.Trace()
    q.log_normal(values[:, 0], values[:, 1].exp(), name="z")
    z = p.log_normal(0.3, 1.0, value=q["z"], name="z")
    p.normal(z, 0.5, value=torch.ones(len(values), dtype=torch.float64), name="x")
    return q, p


def log_of_a_normal_program(values: Tensor) -> tuple[unknot.Trace, unknot.Trace]:
    """The same model written without a transformed distribution, in u = log z."""
    q, p = unknot.Trace(samples=3), unknot.Trace()
    q.normal(values[:, 0], values[:, 1].exp(), name="u")
    u = p.normal(0.3, 1.0, value=q["u"], name="u")
    p.normal(u.exp(), 0.5, value=torch.ones(len(values), dtype=torch.float64), name="x")
    return q, p


def test_transformed_distributions_are_reparametrized_twice_too() -> None:
    """Densities of z and of log z differ by a factor that cancels: the same draws give the same gradient."""
    start = torch.tensor([0.2, -0.7], dtype=torch.float64).expand(5, 2)
    slopes = []
    for program in (log_normal_program, log_of_a_normal_program):
        torch.manual_seed(2)
        slopes.append(doubly(program, start, True))
    torch.testing.assert_close(*slopes)


def test_a_transform_that_remembers_its_draw_makes_no_difference() -> None:
    start = torch.tensor([0.0, -0.7], dtype=torch.float64).expand(5, 2)
    slopes = []
    for cache in (0, 1):
        torch.manual_seed(2)
        slopes.append(doubly(lambda values, cache=cache: transformed_program(values, cache), start, True))
    torch.testing.assert_close(*slopes)


@pytest.mark.parametrize(
    "program", [gaussian_program, class_program, log_normal_program, transformed_program]
)
def test_doubly_reparameterized_gradient_is_the_same_in_expectation(program: Callable) -> None:
    start = torch.tensor([0.5, -0.7], dtype=torch.float64).expand(40_000, 2)
    assert_mean(doubly(program, start, False) - doubly(program, start, True), torch.zeros(2))


def test_doubly_reparameterized_gradient_vanishes_at_the_posterior() -> None:
    """There every weight is the same and log p - log q does not change with z: no noise is left."""
    x = torch.tensor([1.3], dtype=torch.float64)
    mean, std = linear_gaussian.posterior(x)

    def program(values: Tensor) -> tuple[unknot.Trace, unknot.Trace]:
        return linear_gaussian.run(x, values[:, 0], values[:, 1].exp(), samples=6)

    start = torch.stack([mean, torch.full_like(mean, std).log()], -1)
    assert doubly(program, start, True).abs().max() < 1e-10
    assert doubly(program, start, False).abs().max() > 1e-2


def test_doubly_reparameterized_keeps_value_and_decoder_gradient() -> None:
    scale = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)

    def run(twice: bool) -> tuple[Tensor, Tensor]:
        torch.manual_seed(1)
        q, p = unknot.Trace(samples=5), unknot.Trace()
        q.concrete(torch.tensor([[0.1, 0.4, -1.0]], dtype=torch.float64, requires_grad=True), 0.66, name="y")
        y = p.concrete(torch.zeros(3, dtype=torch.float64), 0.66, value=q["y"], name="y")
        p.normal(y * scale, 1.0, value=torch.ones(1, 3, dtype=torch.float64), name="x")
        total = importance_weighted(q, p, doubly_reparameterized=twice).total
        return total, torch.autograd.grad(total, scale)[0]

    for one, other in zip(run(False), run(True), strict=True):
        torch.testing.assert_close(one, other)


def test_doubly_reparameterized_refuses_draws_without_a_path() -> None:
    q, p = make_model("z->y").run(X, samples=2)
    with pytest.raises(SpecError, match="site 'z' is drawn with gradient='score_function'"):
        importance_weighted(q, p, doubly_reparameterized=True)


@pytest.mark.parametrize("samples", [None, 3])
def test_doubly_reparameterized_refuses_parameters_that_hang_on_another_draw(samples: int | None) -> None:
    q, p = unknot.Trace(samples=samples), unknot.Trace()
    first = q.normal(torch.zeros(2, requires_grad=True), 1.0, name="z1")
    q.normal(first, 1.0, name="z2", event_dims=0)
    for name in ("z1", "z2"):
        p.normal(0.0, 1.0, value=q[name], name=name)
    with pytest.raises(SpecError, match="site 'z2' depend on another site's draw"):
        importance_weighted(q, p, doubly_reparameterized=True)
