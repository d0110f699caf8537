"""Several networks side by side: which node sees which part, and what does not reach it."""

from __future__ import annotations

import pytest
import torch

from tests.models.digits import NODES, batch_of_digits
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks.parts import Parts
from unknot.objectives import semi_supervised

CONVOLUTIONS = {"name": "conv", "channels": [4, 8]}
TWO = {"name": "parts", "shapes": CONVOLUTIONS, "pixels": {"name": "mlp", "hidden": [12]}}
APART = {
    "digit": {**NODES["digit"], "encoder": {"name": "mlp", "part": "shapes"}, "gradient": "detached"},
    "style": {**NODES["style"], "encoder": {"name": "mlp", "part": "pixels"}},
    "x": {**NODES["x"], "encoder": TWO},
}


def made(**x: object) -> tuple[GraphicalModel, Parts]:
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": {**APART, "x": {**APART["x"], **x}}}, (1, 8, 8))
    assert isinstance(model.trunk, Parts)
    return model, model.trunk


def test_the_parts_are_the_two_networks() -> None:
    model, trunk = made()
    x = batch_of_digits().x
    features = model.eval().trunk(x)
    torch.testing.assert_close(features[:, trunk.parts["shapes"]], trunk.networks["shapes"](x))
    torch.testing.assert_close(features[:, trunk.parts["pixels"]], trunk.networks["pixels"](x))
    assert features.shape == (40, trunk.features) == (40, 8 * 2 * 2 + 12)


def test_the_decoder_does_not_reach_the_features_of_a_detached_class() -> None:
    (model, trunk), batch = made(), batch_of_digits(0)
    semi_supervised(*model(batch), alpha=5.0).loss.backward()
    of_shapes = [one.grad for one in trunk.networks["shapes"].parameters()]
    assert all(grad is None or not bool(grad.any()) for grad in of_shapes)
    assert all(one.grad is not None and bool(one.grad.any()) for one in trunk.networks["pixels"].parameters())


@pytest.mark.parametrize("third", [{}, {"edges": CONVOLUTIONS}])
def test_only_the_part_that_is_needed_is_computed(third: dict) -> None:
    model, trunk = made(encoder={**TWO, "pixels": {"name": "conv", "dropout": 0.0}, **third})
    x = batch_of_digits().x
    model.eval()
    whole = trunk(x)
    for name, here in trunk.parts.items():
        features = trunk.of_parts([name], x)
        torch.testing.assert_close(features[:, here], whole[:, here])
        assert int((features != 0).sum()) == int((features[:, here] != 0).sum())
    for wanted in (["shapes", "pixels"], [""]):
        torch.testing.assert_close(trunk.of_parts(wanted, x), whole)


def test_a_model_runs_the_network_of_one_part_alone() -> None:
    (model, trunk), seen = made(), []
    trunk.networks["pixels"].register_forward_hook(lambda *_: seen.append(1))
    batch = batch_of_digits()
    value = torch.nn.functional.one_hot(batch["digit"].clamp(min=0), 10).float()
    model.score_latents(batch.x, {"digit": value}, {"digit": value})
    assert not seen


def test_parts_that_are_not_there_are_refused() -> None:
    with pytest.raises(
        SpecError, match="the encoder sees the part 'edges', but the encoder of the data has shapes, pixels"
    ):
        GraphicalModel(
            {"nodes": {**APART, "style": {**NODES["style"], "encoder": {"name": "mlp", "part": "edges"}}}},
            (1, 8, 8),
        )
    with pytest.raises(
        SpecError, match=r"node 'x': encoder conv is for images \(C, H, W\), but data is \(5,\)"
    ):
        GraphicalModel({"nodes": APART}, (5,))
    with pytest.raises(SpecError, match="needs at least two parts"):
        made(encoder={"name": "parts", "shapes": "conv"})
    with pytest.raises(SpecError, match=r"model.nodes.x.encoder.pixels: 'mlp' has no option 'channels'"):
        made(encoder={**TWO, "pixels": {"name": "mlp", "channels": [3]}})
