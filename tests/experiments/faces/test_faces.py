"""faces: S17's graph, and an honest row for every cell."""

from __future__ import annotations

import pytest
import torch

from experiments.faces.faces import ALONE, EXPERIMENT, MODEL, NO_DECODER, mirrored, toy_faces
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError
from unknot.models.spec import read_spec


def test_the_graph_is_the_papers() -> None:
    spec = read_spec(MODEL)
    assert set(spec["shape"].inferred_from) == {"identity", "light"}  # q(s | i, l), never x
    assert all(spec[name].inferred_from == ("x",) for name in ("identity", "light", "rest"))
    assert not any(node.parents for node in spec.latents)  # independent a priori


def test_every_column_has_its_labels_alone() -> None:
    cases = EXPERIMENT.cases("quick")
    columns = {case["column"] for case in cases}
    assert {case["column"] for case in cases if case["row"] == ALONE} == columns
    for case in cases:
        alone = case["train"]["objective"]["name"] == "supervised"
        assert alone == (case["row"] in (ALONE, NO_DECODER))


# ---- Mirrored images: labels follow, unknown ones stay unknown -------------------------------------------


def test_every_image_comes_again_with_its_labels_turned() -> None:
    x = torch.arange(12, dtype=torch.uint8).reshape(2, 1, 2, 3)
    light = torch.tensor([[0.6, 0.0, 0.8], [float("nan")] * 3])
    factors = {
        "who": Factor("who", "categorical", torch.tensor([1, -1]), ("a", "b")),
        "light": Factor("light", "continuous", light),
    }
    both = mirrored(Dataset("faces", x, torch.tensor([5, 9]), factors), {"light": (-1, 1, 1)})
    assert len(both) == 4
    assert both.x[2, 0, 0].tolist() == [2, 1, 0]
    assert both.factor("who").values.tolist() == [1, -1, 1, -1]
    torch.testing.assert_close(both.factor("light").values[2], torch.tensor([-0.6, 0.0, 0.8]))
    assert both.factor("light").known.tolist() == [True, False, True, False]
    assert len(both.ids.unique()) == 4


def test_only_images_have_mirror_images() -> None:
    with pytest.raises(DataError, match="to mirror"):
        mirrored(Dataset("rows", torch.zeros(2, 3), torch.arange(2)), {})


# ---- Toy faces: people under lights, lit as they say -----------------------------------------------------


def test_every_person_under_every_light_once() -> None:
    data = toy_faces(people=3, lights=5, seed=0)
    assert len(data) == 15
    assert data.factor("identity").values.bincount().tolist() == [5, 5, 5]
    torch.testing.assert_close(data.factor("light").values.norm(dim=-1), torch.ones(15))
    assert torch.equal(data.x, toy_faces(people=3, lights=5, seed=0).x)


def test_the_side_that_faces_the_light_is_brighter() -> None:
    data = toy_faces(people=4, lights=12, seed=1)
    light, x = data.factor("light").values, data.x.float()
    brighter = x[..., 10:].mean((1, 2, 3)) - x[..., :10].mean((1, 2, 3))  # on the right
    for person in range(4):  # each has a skin of its own; light also comes from above
        rows = data.factor("identity").values == person
        assert torch.corrcoef(torch.stack([light[rows, 0], brighter[rows]]))[0, 1] > 0.6
