"""The encoder of faces: what light leaves alone, and what each part of it shows."""

from __future__ import annotations

import pytest
import torch

from experiments.faces.networks import SHADE, SHAPE, FaceTrunk
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel

SEES_SHADE = {"name": "mlp", "part": "shade"}
NODES = {
    "identity": {"family": "concrete", "size": 4, "inferred_from": ["x"], "labels": True},
    "light": {
        "family": "direction",
        "size": 3,
        "inferred_from": ["x"],
        "labels": True,
        "encoder": SEES_SHADE,
    },
    "shape": {"family": "normal", "size": 2, "inferred_from": ["identity", "light"]},
    "x": {
        "family": {"name": "normal", "scale": 0.1},
        "parents": ["identity", "light", "shape"],
        "encoder": "experiments.faces.networks:FaceTrunk",
    },
}


def faces(count: int = 6) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.nn.functional.interpolate(torch.rand(count, 1, 6, 5), size=(24, 20), mode="bilinear")


def test_edges_keep_their_direction_when_the_light_changes() -> None:
    trunk, x = FaceTrunk(torch.Size((1, 24, 20))), faces()
    plain, dimmed = trunk.edge_directions(x), trunk.edge_directions(0.3 * x + 0.2)
    strong = plain.norm(dim=1) > 0.9
    angles = torch.nn.functional.cosine_similarity(plain, dimmed, dim=1)[strong]
    assert strong.float().mean() > 0.5
    assert angles.min() > 0.999


def test_the_direction_is_that_of_the_gradient() -> None:
    ramp = torch.linspace(0, 1, 20).expand(1, 1, 24, 20)  # brighter to the right
    across, down = FaceTrunk(torch.Size((1, 24, 20))).edge_directions(ramp)[0, :, 12, 10]
    assert across > 0.9
    assert abs(down) < 1e-4


def test_a_node_sees_its_part_alone() -> None:
    model, x = GraphicalModel({"nodes": NODES}, (1, 24, 20)).eval(), faces()
    assert model.recognition["light"].network[-1].in_features == 256  # type: ignore[index]
    features = model.trunk(x)
    changed = features.clone()
    changed[:, model.trunk.parts[SHAPE]] += 1.0
    first, second = (model.recognized(model.spec["light"], {"x": each}) for each in (features, changed))
    torch.testing.assert_close(first, second)
    assert model.trunk.parts[SHADE].stop == model.trunk.features
    q = model.encode(x, {"identity": torch.tensor([0, 1, -1, -1, 2, 3])})
    assert model.decode(x, q).log_prob().shape == (6,)


def test_parts_that_are_not_there_are_refused() -> None:
    wrong = {**NODES["light"], "encoder": {"name": "mlp", "part": "color"}}
    with pytest.raises(SpecError, match="has shape, shade"):
        GraphicalModel({"nodes": {**NODES, "light": wrong}}, (1, 24, 20))
