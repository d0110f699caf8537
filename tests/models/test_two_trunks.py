"""Two trunks side by side: who sees what, and what does not reach whom."""

from __future__ import annotations

import pytest
import torch

from tests.models.test_agreement import NODES, batch_of_digits
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks import ImageTrunk
from unknot.models.two_trunks import PIXELS, SHAPES, TwoTrunks
from unknot.objectives import semi_supervised

APART = {
    "digit": {**NODES["digit"], "sees": SHAPES, "gradient": "detached"},
    "style": {**NODES["style"], "sees": PIXELS},
    "x": {**NODES["x"], "encoder": "apart", "channels": [4, 8], "recognition_hidden": [12]},
}


def test_the_parts_are_the_two_networks() -> None:
    torch.manual_seed(0)
    model, x = GraphicalModel({"nodes": APART}, (1, 8, 8)).eval(), batch_of_digits().x
    trunk = model.trunk
    assert isinstance(trunk, TwoTrunks)
    features = trunk(x)
    torch.testing.assert_close(features[:, trunk.parts[SHAPES]], trunk.shapes(x))
    torch.testing.assert_close(features[:, trunk.parts[PIXELS]], trunk.pixels(x))
    assert features.shape == (40, trunk.features) == (40, 8 * 2 * 2 + 12)


def test_the_generative_model_does_not_reach_the_features_of_a_detached_class() -> None:
    torch.manual_seed(0)
    model, batch = GraphicalModel({"nodes": APART}, (1, 8, 8)), batch_of_digits(0)
    semi_supervised(*model(batch), alpha=5.0).loss.backward()
    of_shapes = [one.grad for one in model.trunk.shapes.parameters()]  # type: ignore[union-attr]
    assert all(grad is None or not bool(grad.any()) for grad in of_shapes)
    assert all(bool(one.grad.any()) for one in model.trunk.pixels.parameters())  # type: ignore[union-attr]


def test_convolutions_twice_and_only_what_is_asked_for() -> None:
    """A style with convolutions of its own; where only the class is read, they are not run."""
    nodes = {**APART, "x": {**NODES["x"], "encoder": "doubled", "channels": [4, 8]}}
    torch.manual_seed(0)
    model, x = GraphicalModel({"nodes": nodes}, (1, 8, 8)).eval(), batch_of_digits().x
    trunk = model.trunk
    assert isinstance(trunk, TwoTrunks)
    assert isinstance(trunk.pixels, ImageTrunk)
    whole, shapes = trunk(x), trunk.of_parts([SHAPES], x)
    part = trunk.parts[SHAPES]
    torch.testing.assert_close(shapes[:, part], whole[:, part])
    assert not shapes[:, trunk.parts[PIXELS]].any()
    pixels = trunk.of_parts([PIXELS], x)
    torch.testing.assert_close(pixels[:, trunk.parts[PIXELS]], whole[:, trunk.parts[PIXELS]])
    assert not pixels[:, part].any()
    for wanted in ([SHAPES, PIXELS], [""]):
        torch.testing.assert_close(trunk.of_parts(wanted, x), whole)


def test_agreement_runs_the_class_s_network_alone() -> None:
    spec = {"nodes": APART, "agreement": 1.0, "augment": "affine"}
    model, seen = GraphicalModel(spec, (1, 8, 8)), []
    model.trunk.pixels.register_forward_hook(lambda *_: seen.append(1))  # type: ignore[operator, union-attr]
    model(batch_of_digits())
    assert len(seen) == 1


def test_it_is_for_images() -> None:
    with pytest.raises(
        SpecError, match=r"node 'x': encoder apart is for images \(C, H, W\), but data is \(5,\)"
    ):
        GraphicalModel({"nodes": APART}, (5,))
    with pytest.raises(
        SpecError, match="encoders faces, apart, doubled, framed and components describe how image data is"
    ):
        GraphicalModel({"nodes": {**APART, "style": {**APART["style"], "encoder": "apart"}}}, (1, 8, 8))
