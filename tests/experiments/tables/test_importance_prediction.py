"""Importance-weighted prediction against integrals over a grid of styles."""

from __future__ import annotations

import torch
from torch.distributions import Normal

from experiments.tables.importance_prediction import class_log_evidence, importance_weighted_error
from tests.workflow.models import untrained
from unknot.data import load

NODES = {
    "kind": {"family": "concrete", "size": 3, "inferred_from": ["x"], "labels": True},
    "style": {"family": "normal", "size": 1, "inferred_from": ["x", "kind"]},
    "x": {"family": "normal", "scale": 0.7, "parents": ["kind", "style"]},
}


def test_the_evidence_is_the_integral_over_the_style() -> None:
    torch.manual_seed(0)
    model = untrained({"nodes": NODES, "width": 16}, (2,))
    x = torch.randn(4, 2)
    grid = torch.linspace(-8, 8, 4001)
    exact = torch.zeros(4, 3)
    with torch.no_grad():
        for k in range(3):
            means = model.generate(4001, {"kind": torch.full((4001,), k), "style": grid[:, None]})  # (G, 2)
            for b in range(4):
                density = Normal(0.0, 1.0).log_prob(grid) + Normal(means, 0.7).log_prob(x[b]).sum(-1)
                exact[b, k] = (
                    torch.logsumexp(density, 0) + torch.log(grid[1] - grid[0]) - torch.tensor(3.0).log()
                )
        found = class_log_evidence(model, x, "kind", samples=200_000)
    # weights of an untrained proposal vary by a factor of a few: 200,000 of them leave well under 1 % of error
    torch.testing.assert_close(found, exact, rtol=0, atol=0.02)


def test_the_error_counts_items_whose_likeliest_class_is_not_their_label() -> None:
    torch.manual_seed(0)
    data = load("digits").split("test").subset(range(30))
    nodes = {
        "digit": {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
        "style": {"family": "normal", "size": 2, "inferred_from": ["x", "digit"]},
        "x": {"family": "bernoulli", "parents": ["digit", "style"]},
    }
    model = untrained({"nodes": nodes}, data.item_shape)
    batch = data.batch(range(30))
    torch.manual_seed(3)
    with torch.no_grad():
        evidence = class_log_evidence(model, batch.x, "digit", samples=2)
    wrong = sum(int(evidence[b].argmax()) != int(batch["digit"][b]) for b in range(30))
    assert 0 < wrong < 30
    assert importance_weighted_error(model, data, "digit", samples=2, seed=3) == wrong / 30
