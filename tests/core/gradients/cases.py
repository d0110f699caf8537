"""Families whose expectations can be summed or integrated, so that every estimator meets the exact gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributions as td
from torch import Tensor

import unknot

ENTROPY = 0.3  # f = g(value) + 0.3 log q(value): gradient flows through f too


@dataclass(frozen=True)
class Case:
    """One family with parameters θ, its support as points and weights, and a function of its values."""

    name: str
    theta: list[float]
    site: Callable[[unknot.Trace, Tensor, Any], Tensor]  # (trace, θ of shape (N, D), gradient) -> value
    log_prob: Callable[[Tensor, Tensor], Tensor]  # (θ of shape (D,), points) -> (P,)
    points: Tensor  # (P, event...)
    weights: Tensor  # (P,): one for sums, the cell width for integrals
    g: Callable[[Tensor], Tensor]  # values -> one number each
    unbiased: list[str]

    def exact_gradient(self) -> Tensor:
        """∇ Σ_k q(k) f(k), or the integral."""
        theta = torch.tensor(self.theta, dtype=torch.float64, requires_grad=True)
        log_prob = self.log_prob(theta, self.points)
        values = self.g(self.points) + ENTROPY * log_prob
        (gradient,) = torch.autograd.grad((self.weights * log_prob.exp() * values).sum(), theta)
        return gradient


def grid(low: float, high: float, count: int = 40_001) -> tuple[Tensor, Tensor]:
    points = torch.linspace(low, high, count, dtype=torch.float64)
    return points, torch.full_like(points, (high - low) / (count - 1))


def ones(points: Tensor) -> Tensor:
    return torch.ones(points.shape[0], dtype=torch.float64)


def wave(z: Tensor) -> Tensor:
    return torch.sin(z) + 0.25 * z**2 + 2.0


def vector_wave(y: Tensor) -> Tensor:
    return (y * torch.arange(1, y.shape[-1] + 1)).sum(-1) ** 2 + y[..., 0]


line, line_weights = grid(-25, 25)
half, half_weights = grid(1e-4, 60)
unit, unit_weights = grid(1e-6, 1 - 1e-6)
circle, circle_weights = grid(-torch.pi, torch.pi, 4001)
side = torch.linspace(-9, 9, 301, dtype=torch.float64)
plane = torch.cartesian_prod(side, side)
counts = torch.arange(60, dtype=torch.float64)
K = 3
classes = torch.arange(K)
vertices = torch.eye(K, dtype=torch.float64)
pairs = torch.tensor([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], dtype=torch.float64)
bits = torch.tensor([0.0, 1.0], dtype=torch.float64)
BOTH = ["pathwise", "score_function"]
DISCRETE = ["score_function", "enumerate"]


def logits_of(name: str, **more: Any) -> Callable[[unknot.Trace, Tensor, Any], Tensor]:
    def site(q: unknot.Trace, theta: Tensor, gradient: Any) -> Tensor:
        return getattr(q, name)(logits=theta, name="v", gradient=gradient, **more)

    return site


CASES = [
    Case(
        "normal", [0.4, -0.3],
        lambda q, t, g: q.normal(t[:, 0], t[:, 1].exp(), name="v", gradient=g),
        lambda t, v: td.Normal(t[0], t[1].exp()).log_prob(v),
        line, line_weights, wave, BOTH,
    ),
    Case(
        "laplace", [0.4, -0.7],
        lambda q, t, g: q.laplace(t[:, 0], t[:, 1].exp(), name="v", gradient=g),
        lambda t, v: td.Laplace(t[0], t[1].exp()).log_prob(v),
        *grid(-25.013, 25), wave, BOTH,
    ),
    Case(
        "student_t", [0.4, -0.7],
        lambda q, t, g: q.student_t(torch.tensor(8.0), t[:, 0], t[:, 1].exp(), name="v", gradient=g),
        lambda t, v: td.StudentT(torch.tensor(8.0, dtype=torch.float64), t[0], t[1].exp()).log_prob(v),
        *grid(-80, 80), torch.sin, BOTH,
    ),
    Case(
        "log_normal", [0.1, -1.0],
        lambda q, t, g: q.log_normal(t[:, 0], t[:, 1].exp(), name="v", gradient=g),
        lambda t, v: td.LogNormal(t[0], t[1].exp()).log_prob(v),
        half, half_weights, wave, BOTH,
    ),
    Case(
        "gamma", [1.2, 0.3],
        lambda q, t, g: q.gamma(t[:, 0].exp(), t[:, 1].exp(), name="v", gradient=g),
        lambda t, v: td.Gamma(t[0].exp(), t[1].exp()).log_prob(v),
        half, half_weights, wave, BOTH,
    ),
    Case(
        "beta", [0.9, 0.7],
        lambda q, t, g: q.beta(t[:, 0].exp(), t[:, 1].exp(), name="v", gradient=g),
        lambda t, v: td.Beta(t[0].exp(), t[1].exp()).log_prob(v),
        unit, unit_weights, wave, BOTH,
    ),
    Case(
        "dirichlet", [0.9, 0.7],
        lambda q, t, g: q.dirichlet(t.exp(), name="v", gradient=g),
        lambda t, v: td.Dirichlet(t.exp()).log_prob(v),
        torch.stack([unit, 1 - unit], -1), unit_weights, vector_wave, BOTH,
    ),
    Case(
        "multivariate_normal", [0.3, -0.2, 0.5],
        lambda q, t, g: q.multivariate_normal(t[:, :2], scale_tril=_lower(t[:, 2]), name="v", gradient=g),
        lambda t, v: td.MultivariateNormal(t[:2], scale_tril=_lower(t[2])).log_prob(v),
        plane, torch.full((len(plane),), (18 / 300) ** 2, dtype=torch.float64), vector_wave, BOTH,
    ),
    Case(
        "von_mises", [0.4, 0.5],
        lambda q, t, g: q.von_mises(t[:, 0], t[:, 1].exp(), name="v", gradient=g),
        lambda t, v: td.VonMises(t[0], t[1].exp()).log_prob(v),
        circle, circle_weights, lambda v: torch.sin(v) + torch.cos(2 * v), ["score_function"],
    ),
    Case(
        "poisson", [0.7],
        lambda q, t, g: q.poisson(t[:, 0].exp(), name="v", gradient=g),
        lambda t, v: td.Poisson(t[0].exp()).log_prob(v),
        counts, ones(counts), wave, ["score_function"],
    ),
    Case(
        "multinomial", [0.3, -0.4],
        lambda q, t, g: q.multinomial(2, logits=t, name="v", gradient=g),
        lambda t, v: td.Multinomial(2, logits=t).log_prob(v),
        pairs, ones(pairs), vector_wave, ["score_function"],
    ),
    Case(
        "bernoulli", [0.6],
        lambda q, t, g: q.bernoulli(logits=t[:, 0], name="v", gradient=g),
        lambda t, v: td.Bernoulli(logits=t[0]).log_prob(v),
        bits, ones(bits), wave, DISCRETE,
    ),
    Case(
        "relaxed_bernoulli", [0.6],
        lambda q, t, g: q.relaxed_bernoulli(0.5, logits=t[:, 0], name="v", gradient=g),
        lambda t, v: td.Bernoulli(logits=t[0]).log_prob(v),
        bits, ones(bits), wave, DISCRETE,
    ),
    Case(
        "categorical", [0.5, -0.5, 0.2], logits_of("categorical"),
        lambda t, v: td.Categorical(logits=t).log_prob(v),
        classes, ones(classes), lambda v: wave(v.double()), DISCRETE,
    ),
    Case(
        "one_hot_categorical", [0.5, -0.5, 0.2], logits_of("one_hot_categorical"),
        lambda t, v: t.log_softmax(-1),
        vertices, ones(vertices), vector_wave, DISCRETE,
    ),
    Case(
        "concrete", [0.5, -0.5, 0.2], logits_of("concrete", temperature=0.5),
        lambda t, v: t.log_softmax(-1),
        vertices, ones(vertices), vector_wave, DISCRETE,
    ),
]  # fmt: skip


def _lower(log_scale: Tensor) -> Tensor:
    """[[e^s, 0], [0.3, 1]]."""
    scale = log_scale.exp()
    zero, one = torch.zeros_like(scale), torch.ones_like(scale)
    return torch.stack([torch.stack([scale, zero], -1), torch.stack([0.3 * one, one], -1)], -2)
