"""Data nodes: scores against torch's own distributions, means, and the networks that suit a shape."""

from __future__ import annotations

import pytest
import torch
from torch import Size
from torch.distributions import Bernoulli, Multinomial, Normal, Poisson
from torch.nn.functional import softplus

import unknot
from unknot.errors import SpecError
from unknot.models.likelihoods import likelihood
from unknot.models.networks import CountTrunk, ImageDecoder, ImageTrunk, VectorDecoder, VectorTrunk
from unknot.models.spec import node
from unknot.models.table import TableTrunk

COLUMNS = [{"name": "a", "kind": "real", "mean": 0.0, "sd": 1.0}, {"name": "b", "kind": "binary"}]


def make(family: str, shape: tuple[int, ...] = (6,), **settings):
    return likelihood(node("x", family, parents=["z"], **settings), Size(shape), 16)


def score(family: str, outputs: torch.Tensor, x: torch.Tensor, **settings) -> torch.Tensor:
    p = unknot.Trace()
    make(family, tuple(x.shape[1:]), **settings).site(p, outputs, x, "x")
    return p["x"].log_prob


def test_scores_are_torchs_own() -> None:
    outputs, counts = torch.randn(4, 6), torch.randint(0, 5, (4, 6)).float()
    pixels = torch.randint(0, 2, (4, 6)).float()
    torch.testing.assert_close(
        score("bernoulli", outputs, pixels), Bernoulli(logits=outputs).log_prob(pixels).sum(-1)
    )
    torch.testing.assert_close(
        score("normal", outputs, counts, scale=0.3), Normal(outputs, 0.3).log_prob(counts).sum(-1)
    )
    torch.testing.assert_close(
        score("poisson", outputs, counts), Poisson(softplus(outputs) + 1e-6).log_prob(counts).sum(-1)
    )
    by_hand = torch.stack(
        [Multinomial(int(c.sum()), logits=o).log_prob(c) for o, c in zip(outputs, counts, strict=True)]
    )
    torch.testing.assert_close(score("multinomial", outputs, counts), by_hand)


def test_a_learned_scale_is_one_weight() -> None:
    assert sum(p.numel() for p in make("normal").parameters()) == 1
    assert not list(make("normal", scale=0.2).parameters())


def test_means() -> None:
    outputs = torch.randn(4, 6)
    torch.testing.assert_close(make("bernoulli").mean(outputs), outputs.sigmoid())
    torch.testing.assert_close(make("multinomial").mean(outputs).sum(-1), torch.ones(4))
    assert (make("poisson").mean(outputs) > 0).all()


@pytest.mark.parametrize(
    ("family", "shape", "settings", "trunk", "decoder"),
    [
        ("bernoulli", (6,), {}, VectorTrunk, VectorDecoder),
        ("bernoulli", (1, 28, 28), {}, ImageTrunk, VectorDecoder),
        ("normal", (3, 32, 32), {}, ImageTrunk, ImageDecoder),
        ("bernoulli", (1, 28, 28), {"recognition_hidden": [9], "hidden": [9]}, VectorTrunk, VectorDecoder),
        ("multinomial", (6,), {}, CountTrunk, VectorDecoder),
        ("table", (2,), {"columns": COLUMNS}, TableTrunk, VectorDecoder),
    ],
)
def test_networks_suit_the_shape(family, shape, settings, trunk, decoder) -> None:
    made = make(family, shape, **settings)
    assert isinstance(made.trunk(), trunk)
    assert isinstance(made.decoder(4), decoder)


def test_tables_need_columns_that_fit() -> None:
    with pytest.raises(SpecError, match="a table needs columns"):
        make("table", (2,))
    with pytest.raises(SpecError, match="2 columns are described, but rows have 3"):
        make("table", (3,), columns=COLUMNS)
