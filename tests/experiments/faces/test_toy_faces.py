"""Toy faces: people under lights, lit as they say."""

from __future__ import annotations

import torch

from experiments.faces.toy_faces import toy_faces


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
