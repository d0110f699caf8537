"""One contract for every data family, and the networks that suit a shape."""

from __future__ import annotations

import pytest
import torch
from torch import Size

import unknot
from unknot.errors import SpecError
from unknot.models import node
from unknot.models.likelihoods import LIKELIHOODS, Likelihood, likelihood
from unknot.models.networks import ImageDecoder, ImageTrunk, VectorDecoder, VectorTrunk
from unknot.models.spec import read_spec
from unknot.models.table import TableTrunk
from unknot.models.word_networks import CountTrunk

COLUMNS = [{"name": "a", "kind": "real", "mean": 0.0, "sd": 1.0}, {"name": "b", "kind": "binary"}]


def make(family: str, shape: tuple[int, ...] = (2,), **settings) -> Likelihood:
    if LIKELIHOODS[family].takes_columns:
        settings["columns"] = COLUMNS
    return likelihood(node("x", family, parents=["z"], **settings), Size(shape), 16)


@pytest.mark.parametrize("family", LIKELIHOODS)
def test_sites(family: str) -> None:
    one = make(family)
    x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])  # data for every family
    assert one.trunk()(x).shape == (3, one.trunk().features)
    outputs = one.decoder(4)(torch.randn(3, 4))
    p = unknot.Trace()
    one.site(p, outputs, x, "x")
    assert p["x"].log_prob.shape == (3,)
    assert bool(p["x"].log_prob.isfinite().all())
    assert one.mean(outputs).shape == x.shape


@pytest.mark.parametrize("family", LIKELIHOODS)
def test_data_has_no_prior_and_so_no_units(family: str) -> None:
    latent = node("z", "normal", 2, inferred_from=["x"])
    with pytest.raises(SpecError, match="center takes one number for each dimension of a normal latent node"):
        read_spec([latent, node("x", family, parents=["z"], center=[1.0])])


@pytest.mark.parametrize(
    ("family", "shape", "settings", "trunk", "decoder"),
    [
        ("bernoulli", (6,), {}, VectorTrunk, VectorDecoder),
        ("bernoulli", (1, 28, 28), {}, ImageTrunk, VectorDecoder),
        ("normal", (3, 32, 32), {}, ImageTrunk, ImageDecoder),
        ("bernoulli", (1, 28, 28), {"recognition_hidden": [9], "hidden": [9]}, VectorTrunk, VectorDecoder),
        ("multinomial", (6,), {}, CountTrunk, VectorDecoder),
        ("table", (2,), {}, TableTrunk, VectorDecoder),
    ],
)
def test_networks_suit_the_shape(family, shape, settings, trunk, decoder) -> None:
    made = make(family, shape, **settings)
    assert isinstance(made.trunk(), trunk)
    assert isinstance(made.decoder(4), decoder)
