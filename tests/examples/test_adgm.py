"""ADGM: the bound of an unlabeled item, the bound of a labeled one, and S17 Eq. 9, by a double loop."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

import unknot
from tests.examples.loading import load

recipe = load("recipes/adgm")
KNOWN = torch.tensor([-1, 1, 0, -1, 1])


def normal(value: Tensor, loc: Tensor, scale: Tensor | float) -> float:
    return Normal(loc, scale).log_prob(value).sum().item()


def log_ratio(encoder, decoder, x: Tensor, a: Tensor, k: int, z: Tensor) -> float:
    """log p(k) p(z) p(x | k, z) p(a | x, k, z) - log q(a | x) - log q(z | x, a, k)."""
    y = torch.eye(recipe.CLASSES)[k]
    log_p = math.log(1 / recipe.CLASSES) + normal(z, torch.zeros(recipe.CODES), 1.0)
    log_p += normal(x, decoder.x(torch.cat([y, z])), 0.2)
    log_p += normal(a, *recipe.parameters(decoder.a(torch.cat([x, y, z]))))
    log_q = normal(a, *recipe.parameters(encoder.a(x)))
    return log_p - log_q - normal(z, *recipe.parameters(encoder.z(torch.cat([x, a, y]))))


@torch.no_grad()
@pytest.mark.parametrize("items", [2, 3, 5])  # two items, as many as classes
def test_objectives_are_double_loops(items: int, double: None) -> None:
    encoder, decoder, x = recipe.Encoder(), recipe.Decoder(), torch.randn(items, recipe.FEATURES)
    q = unknot.trace(encoder, x, unknot.partial(KNOWN[:items]))
    p = unknot.trace(decoder, x, q)
    bound = unknot.objectives.semi_supervised(q, p, alpha=3.0).per_item
    plain = unknot.objectives.elbo(q, p).per_item
    weighted = unknot.objectives.importance_weighted(q, p, alpha=3.0).per_item
    a_values = q["a"].value.reshape(items, recipe.CODES)
    z_values = q["z"].value.reshape(recipe.CLASSES, items, recipe.CODES)
    for i in range(items):
        ratios = [
            log_ratio(encoder, decoder, x[i], a_values[i], k, z_values[k, i]) for k in range(recipe.CLASSES)
        ]
        log_y = encoder.y(torch.cat([x[i], a_values[i]])).log_softmax(-1).tolist()
        label = int(KNOWN[i])
        if label < 0:
            expected = sum(math.exp(one) * (ratio - one) for one, ratio in zip(log_y, ratios, strict=True))
            evidence, classifier = math.log(sum(math.exp(r) for r in ratios)), 0.0
        else:
            expected, evidence, classifier = ratios[label], ratios[label], 3.0 * log_y[label]
        assert plain[i].item() == pytest.approx(expected, abs=1e-9)
        assert bound[i].item() == pytest.approx(expected + classifier, abs=1e-9)
        assert weighted[i].item() == pytest.approx(evidence + classifier, abs=1e-9)
