"""One contract for every data family, and the networks that suit the data."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.errors import SpecError
from unknot.models import GraphicalModel, node
from unknot.models.likelihoods import LIKELIHOODS
from unknot.models.likelihoods.table import TableTrunk
from unknot.models.networks.conv import ImageDecoder, ImageTrunk
from unknot.models.networks.mlp import VectorDecoder, VectorTrunk
from unknot.models.spec import read_spec
from unknot.models.words.counts import CountTrunk
from unknot.models.words.topics import TopicDecoder, TopicTrunk

COLUMNS = [{"name": "a", "kind": "real", "mean": 0.0, "sd": 1.0}, {"name": "b", "kind": "binary"}]


def make(family: str, shape: tuple[int, ...] = (2,), **settings) -> GraphicalModel:
    options = {"columns": COLUMNS} if LIKELIHOODS[family].takes_columns else {}
    latent = node("z", "normal", 4, inferred_from=["x"])
    return GraphicalModel([latent, node("x", {"name": family, **options}, parents=["z"], **settings)], shape)


@pytest.mark.parametrize("family", LIKELIHOODS)
def test_sites(family: str) -> None:
    model = make(family)
    one = model.likelihood
    x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])  # data for every family
    assert model.trunk(x).shape == (3, model.trunk.features)
    outputs = model.generation["x"](torch.randn(3, 4))
    p = unknot.Trace()
    one.site(p, outputs, x, "x")
    assert p["x"].log_prob.shape == (3,)
    assert bool(p["x"].log_prob.isfinite().all())
    assert one.mean(outputs).shape == x.shape


@pytest.mark.parametrize("family", LIKELIHOODS)
def test_data_has_no_prior(family: str) -> None:
    latent = node("z", "normal", 2, inferred_from=["x"])
    with pytest.raises(
        SpecError, match=f"node 'x': a prior of {family} has no parameters to set, but got 'center'"
    ):
        read_spec([latent, node("x", family, parents=["z"], prior={"center": [1.0]})])


@pytest.mark.parametrize(
    ("family", "shape", "settings", "trunk", "decoder"),
    [
        ("bernoulli", (6,), {}, VectorTrunk, VectorDecoder),
        ("bernoulli", (1, 28, 28), {}, ImageTrunk, VectorDecoder),
        ("normal", (3, 32, 32), {}, ImageTrunk, ImageDecoder),
        ("bernoulli", (1, 28, 28), {"encoder": "mlp", "decoder": "conv"}, VectorTrunk, ImageDecoder),
        ("multinomial", (6,), {}, CountTrunk, VectorDecoder),
        ("multinomial", (6,), {"encoder": {"name": "mlp", "hidden": [9]}}, CountTrunk, VectorDecoder),
        ("table", (2,), {}, TableTrunk, VectorDecoder),
        ("product_topics", (6,), {}, TopicTrunk, TopicDecoder),
    ],
)
def test_networks_suit_the_data(family, shape, settings, trunk, decoder) -> None:
    model = make(family, shape, **settings)
    assert isinstance(model.trunk, trunk)
    assert isinstance(model.generation["x"], decoder)
