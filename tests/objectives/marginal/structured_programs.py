"""Small programs in float64 with a class y, two styles z and w, and every kind of dependence, for the tests."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import MultivariateNormal

import unknot

B, N, K, D, E, X = 6, 40, 4, 3, 2, 5
TAU = 0.66


class Encoder(nn.Module):
    """q(y | x) q(z | x) q(w | x), or, with ``dependent``, q(z | x, y)."""

    def __init__(self, gradient: str | None = None, dependent: bool = False) -> None:
        super().__init__()
        self.h = nn.Linear(X, 20, dtype=torch.float64)
        self.y = nn.Linear(20, K, dtype=torch.float64)
        self.z = nn.Linear(20 + K * dependent, 2 * D, dtype=torch.float64)
        self.w = nn.Linear(20, 2 * E, dtype=torch.float64)
        self.gradient, self.dependent = gradient, dependent

    def forward(self, x: Tensor, y_values: Any = None, samples: int | None = None) -> unknot.Trace:
        q = unknot.Trace(samples=samples)
        h = self.h(x).tanh()
        y = q.concrete(2 * self.y(h), TAU, value=y_values, name="y", gradient=self.gradient)
        z_loc, z_scale = self.z(unknot.cat([h, 3 * y], -1) if self.dependent else h).chunk(2, -1)
        q.normal(2 * z_loc, z_scale.exp(), name="z")
        w_loc, w_scale = self.w(h).chunk(2, -1)
        q.normal(2 * w_loc, w_scale.exp(), name="w")
        return q


def decoder(x: Tensor, q: unknot.Trace, correlated: bool = False) -> unknot.Trace:
    """p(y) p(z) p(w) p(x | z, w), z with correlated dimensions if asked for."""
    p = unknot.Trace()
    p.concrete(torch.arange(float(K), dtype=torch.float64), TAU, value=q["y"], name="y")
    zero, one = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)
    if correlated:
        prior = MultivariateNormal(torch.arange(float(D)).double(), covariance(), validate_args=False)
        z = p.variable(prior, q["z"], name="z")
    else:
        z = p.normal(zero, one, value=q["z"], name="z")
    w = p.normal(zero, 2 * one, value=q["w"], name="w")
    p.normal(unknot.cat([z, w], -1), one, value=x, name="x")
    return p


def covariance() -> Tensor:
    return torch.eye(D, dtype=torch.float64) + 0.5


def data(batch: int = B) -> Tensor:
    return torch.randn(batch, X, dtype=torch.float64)


def leaf_logs(
    q: unknot.Trace, encode_at: Mapping[str, list[unknot.Trace]] | None = None
) -> dict[str, Tensor]:
    """log q(z_bd | x_c) pair by pair, (B, C, D), for a trace without sample axis.

    ``encode_at["z"][b]`` is the encoder's trace on all items with the parents of z at the values of item b.
    """
    found = {}
    for node in q.variables():
        batch = node.value.shape[0]
        rows = []
        for b in range(batch):
            source = q if encode_at is None or node.name not in encode_at else encode_at[node.name][b]
            dist = source[node.name].dist
            if node.name == "y":
                label = node.known is True or (node.known is not False and bool(node.known[b]))
                drawn = node.scored_by == "density" and not label
                logs = dist.log_density(node.unbounded[b]) if drawn else dist.log_mass(node.value[b])
                rows.append(logs[:, None])  # (C, 1)
            else:
                rows.append(dist.log_prob(node.value[b]))  # (C, D)
        found[node.name] = torch.stack(rows).detach()
    return found
