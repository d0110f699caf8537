"""Principal components against numpy's own, and models that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Size, Tensor

from experiments.digits.components import ComponentDecoder, ComponentTrunk, PrincipalComponents
from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks.parts import Parts
from unknot.objectives import semi_supervised

SHAPE = Size((1, 3, 4))


def data(items: int = 60) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    mixed = torch.randn(12, 12, generator=generator) * torch.linspace(3, 0.3, 12)
    x = torch.randn(items, 12, generator=generator) @ mixed.T + 5
    return Dataset("mixed", x.view(-1, *SHAPE), torch.arange(items))


def taken(number: int, items: int = 60) -> PrincipalComponents:
    basis = PrincipalComponents(SHAPE, number)
    basis.take(data(items))
    return basis


def whole(one: Dataset) -> Tensor:
    return one.batch(range(len(one))).x


def test_axes_and_spreads_are_those_of_the_covariance() -> None:
    basis, flat = taken(5), whole(data()).flatten(1).double().numpy()
    values, vectors = np.linalg.eigh(np.cov(flat.T, bias=True))
    np.testing.assert_allclose(basis.spread, np.sqrt(values[::-1][:5]), rtol=1e-4)
    alike = np.abs(np.sum(vectors[:, ::-1][:, :5] * basis.axes.numpy(), 0))  # but for their signs
    np.testing.assert_allclose(alike, 1, atol=1e-3)


def test_coordinates_are_white_and_make_the_nearest_items() -> None:
    basis, x = taken(5), whole(data())
    c = basis.coordinates(x)
    torch.testing.assert_close(c.mean(0), torch.zeros(5), atol=1e-4, rtol=0)
    torch.testing.assert_close(c.T @ c / len(c), torch.eye(5), atol=1e-3, rtol=0)
    torch.testing.assert_close(basis.coordinates(basis.items(c)), c, atol=1e-3, rtol=1e-3)
    lost = (x - basis.items(c)).square().sum() / len(x)
    values = np.linalg.eigvalsh(np.cov(x.flatten(1).double().numpy().T, bias=True))
    assert abs(float(lost) / values[:-5].sum() - 1) < 1e-3


def test_all_components_make_the_items_themselves_on_any_leading_axes() -> None:
    basis, x = taken(12), whole(data()).view(2, 30, *SHAPE)
    assert basis.coordinates(x).shape == (2, 30, 12)
    torch.testing.assert_close(basis.items(basis.coordinates(x)), x, atol=1e-3, rtol=1e-3)


def test_they_are_the_same_each_time_and_leave_the_draws_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first = taken(4)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(4)
    assert torch.equal(first.axes, taken(4).axes)


def test_fewer_items_than_components_are_enough() -> None:
    basis, x = taken(12, items=7), whole(data(7))
    torch.testing.assert_close(basis.items(basis.coordinates(x)), x, atol=1e-3, rtol=1e-3)


NODES = {
    "digit": {
        "family": "concrete",
        "size": 3,
        "inferred_from": ["x"],
        "labels": True,
        "encoder": {"name": "mlp", "part": "shapes"},
        "gradient": "detached",
    },
    "style": {
        "family": "normal",
        "size": 2,
        "inferred_from": ["x", "digit"],
        "encoder": {"name": "mlp", "part": "pixels"},
    },
    "x": {"family": {"name": "normal", "scale": 0.1}, "parents": ["digit", "style"]},
}


def described(components: int, decoder: object = "mlp") -> dict[str, Any]:
    """The model whose style sees components of the items, and whose items are made of components."""
    here = "experiments.digits.components"
    pixels = {"name": f"{here}:ComponentTrunk", "components": components}
    encoder = {"name": "parts", "shapes": {"name": "conv", "channels": [4]}, "pixels": pixels}
    of = {"name": f"{here}:ComponentDecoder", "components": components, "decoder": decoder}
    return {"nodes": {**NODES, "x": {**NODES["x"], "encoder": encoder, "decoder": of}}}


@pytest.mark.parametrize(
    "decoder", ["mlp", {"name": "experiments.faces.networks:ProductDecoder", "width": 8}]
)
def test_a_model_takes_its_components_from_its_training_items(decoder: object) -> None:
    torch.manual_seed(0)
    model = GraphicalModel(described(6, decoder), SHAPE)
    model.prepare(data())
    trunk, made_by = model.trunk, model.generation["x"]
    assert isinstance(trunk, Parts)
    pixels = trunk.networks["pixels"]
    assert isinstance(pixels, ComponentTrunk)
    assert isinstance(made_by, ComponentDecoder)
    x = whole(data())
    torch.testing.assert_close(trunk(x)[:, trunk.parts["pixels"]], taken(6).coordinates(x))
    made = made_by(torch.randn(4, 5))
    assert made.shape == (4, *SHAPE)  # and nothing but the components
    torch.testing.assert_close(taken(6).items(taken(6).coordinates(made)), made, atol=1e-3, rtol=1e-3)
    before = pixels.basis.axes.clone()
    semi_supervised(*model(data().batch(range(20))), alpha=5.0).loss.backward()
    assert torch.equal(pixels.basis.axes, before)
    assert not [name for name, _ in model.named_parameters() if "basis" in name]


def test_there_are_no_more_components_than_entries() -> None:
    model = GraphicalModel(described(200), SHAPE)
    model.prepare(data())
    assert model.trunk.networks["pixels"].features == 12  # type: ignore[union-attr]
    assert model.decode(whole(data()), model.encode(whole(data()))).log_prob().shape == (60,)


def test_in_half_precision_coordinates_are_whole() -> None:
    basis, x = taken(6), whole(data())
    expected = basis.coordinates(x)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(basis.coordinates(x), expected)
        assert basis.items(basis.coordinates(x).bfloat16()).dtype == torch.float32


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(SpecError, match="components is a whole number from 1"):
        GraphicalModel(described(0), SHAPE)
    style = {
        **NODES["style"],
        "encoder": "experiments.digits.components:ComponentTrunk",
    }  # of data, not of a node
    with pytest.raises(SpecError, match="has no class 'ComponentTrunk' derived from"):
        GraphicalModel({"nodes": {**NODES, "style": style}}, SHAPE)
