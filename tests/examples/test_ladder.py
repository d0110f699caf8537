"""The ladder's terms against exact finite mixtures: q(z) is a mixture of products over all training items."""

from __future__ import annotations

import math

import pytest
import torch

import unknot
from tests.examples.loading import load

recipe = load("recipes/ladder")
ITEMS = 6
WEIGHTS = {"between[detail]": 7.0, "within[top]": 0.5}


@pytest.fixture
def traces(double: None) -> tuple[unknot.Trace, unknot.Trace]:
    encoder, decoder, x = recipe.Encoder(), recipe.Decoder(), 3 * torch.randn(ITEMS, recipe.FEATURES)
    q = unknot.trace(encoder, x)
    return q, unknot.trace(decoder, x, q)


def log_normal(value: float, loc: float, scale: float) -> float:
    return -0.5 * ((value - loc) / scale) ** 2 - math.log(scale) - 0.5 * math.log(2 * math.pi)


def log_mixture(q: unknot.Trace, item: int, dimensions: list[tuple[str, int]]) -> float:
    """log 1/N sum_n prod_d q(z_d | x_n) at the draw of one item."""
    total = 0.0
    for other in range(ITEMS):
        density = 1.0
        for name, d in dimensions:
            dist = q[name].dist
            loc, scale = dist.mean[other, d].item(), dist.stddev[other, d].item()
            density *= math.exp(log_normal(q[name].value[item, d].item(), loc, scale))
        total += density / ITEMS
    return math.log(total)


def expected(q: unknot.Trace, item: int) -> dict[str, float]:
    """Minus the total correlation of every inner node of the tree, at the draw of one item."""
    one = {name: [(name, 0), (name, 1)] for name in recipe.RUNGS}
    detail = one["middle"] + one["bottom"]

    def correlation(parts: list[list[tuple[str, int]]]) -> float:
        together = [pair for part in parts for pair in part]
        return sum(log_mixture(q, item, part) for part in parts) - log_mixture(q, item, together)

    return {
        "between": correlation([one["top"], detail]),
        "between[detail]": correlation([one["middle"], one["bottom"]]),
        **{f"within[{name}]": correlation([[(name, 0)], [(name, 1)]]) for name in recipe.RUNGS},
    }


@torch.no_grad()
def test_every_node_of_the_tree_is_that_of_the_exact_mixture(
    traces: tuple[unknot.Trace, unknot.Trace],
) -> None:
    terms = unknot.objectives.decompose(*traces, dataset_size=ITEMS, groups=recipe.TREE)
    for item in range(ITEMS):
        for name, value in expected(traces[0], item).items():
            assert terms[name][item].item() == pytest.approx(value, abs=1e-9)


@torch.no_grad()
def test_terms_with_unit_weights_sum_to_the_elbo(traces: tuple[unknot.Trace, unknot.Trace]) -> None:
    elbo = unknot.objectives.elbo(*traces).per_item
    for terms in (
        unknot.objectives.decompose(*traces, dataset_size=50, groups=recipe.TREE),
        unknot.objectives.hfvae(*traces, dataset_size=50, beta=1.0, gamma=1.0, groups=recipe.TREE),
    ):
        torch.testing.assert_close(terms.per_item, elbo)


@torch.no_grad()
def test_weights_are_by_node(traces: tuple[unknot.Trace, unknot.Trace]) -> None:
    elbo = unknot.objectives.elbo(*traces).per_item
    terms = unknot.objectives.hfvae(
        *traces, dataset_size=ITEMS, beta=4.0, gamma=3.0, groups=recipe.TREE, weights=WEIGHTS
    )
    for item in range(ITEMS):
        value = elbo[item].item()
        for name, correlation in expected(traces[0], item).items():
            weight = 4.0 if name == "between" else WEIGHTS.get(name, 3.0)
            value += (weight - 1) * correlation
        assert terms.per_item[item].item() == pytest.approx(value, abs=1e-9)
