"""The objective of CCVAE written out, draw by draw, for items with both labels, one of them, or none."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

import unknot
from tests.examples.loading import load

recipe = load("recipes/ccvae")
KNOWN = torch.tensor([[1, 0], [-1, 1], [0, -1], [-1, -1]])


def normal(value: Tensor, loc: Tensor, scale: Tensor | float) -> float:
    return Normal(loc, scale).log_prob(value).sum().item()


def written(encoder, decoder, q, x: Tensor, known: Tensor, item: int) -> tuple[float, list[float]]:
    """Sum over draws of normalized weights times log p / q, and the logarithms of the weights."""
    log_weights, ratios = [], []
    for s in range(q.samples):
        z = q["z"].value[..., s, item, :].reshape(-1)
        codes = [q[f"{name}.c"].value[..., s, item, :].reshape(-1) for name in recipe.LABELS]
        loc, raw = encoder.z(x).chunk(2)
        shared = normal(z, torch.zeros(2), 1.0) - normal(z, loc, raw.sigmoid())
        shared += normal(x, decoder.x(torch.cat([z, *codes])), 0.5)
        choices, logits = [], []
        for i, name in enumerate(recipe.LABELS):
            loc, raw = encoder.c[name](x).chunk(2)
            shared -= normal(codes[i], loc, raw.sigmoid())
            logits.append(encoder.y[name](codes[i]).log_softmax(-1).tolist())
            choices.append(range(2) if known[i] < 0 else [int(known[i])])
        log_weights.append(sum((logits[i][known[i]] for i in range(2) if known[i] >= 0), start=0.0))
        ratio = 0.0
        for ys in itertools.product(*choices):  # values of the labels that are not known
            weight, value = 1.0, shared - log_weights[-1]
            for i, (name, y) in enumerate(zip(recipe.LABELS, ys, strict=True)):
                value += math.log(0.5) + normal(codes[i], decoder.loc[name][y], 1.0)
                if known[i] < 0:
                    weight *= math.exp(logits[i][y])
                    value -= logits[i][y]
            ratio += weight * value
        ratios.append(ratio)
    weights = torch.tensor(log_weights).softmax(0).tolist()
    return sum(w * r for w, r in zip(weights, ratios, strict=True)), log_weights


@torch.no_grad()
@pytest.mark.parametrize("samples", [1, 2, 5])
def test_it_is_the_written_objective(samples: int, double: None) -> None:
    encoder, decoder, x = recipe.Encoder(samples), recipe.Decoder(), torch.randn(4, recipe.FEATURES)
    labels = {name: unknot.partial(KNOWN[:, i]) for i, name in enumerate(recipe.LABELS)}
    q = unknot.trace(encoder, x, labels)
    p = unknot.trace(decoder, x, q)
    for alpha in (0.0, 10.0):
        found = unknot.objectives.semi_supervised(q, p, alpha=alpha).per_item
        for item in range(4):
            bound, log_weights = written(encoder, decoder, q, x[item], KNOWN[item], item)
            mean = sum(log_weights) / samples
            assert found[item].item() == pytest.approx(bound + (1 + alpha) * mean, abs=1e-9)
            # the paper's log q(y | x) is the logarithm of the mean weight, which is no smaller
            assert mean <= torch.tensor(log_weights).logsumexp(0).item() - math.log(samples) + 1e-12
