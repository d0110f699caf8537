"""What training adds to the generative program: what the description asks for, and nothing when training is over."""

from __future__ import annotations

import pytest
import torch

from tests.models.test_agreement import NODES, batch_of_digits
from unknot.models.graphical_model import GraphicalModel

ASKED = {
    "agreement": ({"augment": "affine", "agreement": 2.0}, "agreement_digit"),
    "critic": ({"critic": 1.0}, "critic_digit"),
    "independence": ({"independence": 2.0}, "independence_digit"),
    "swap": ({"swap": 2.0}, "swap"),
}


def model_with(**settings: object) -> GraphicalModel:
    torch.manual_seed(0)
    return GraphicalModel({"nodes": NODES, **settings}, (1, 8, 8))


@pytest.mark.parametrize("asked", ASKED)
def test_one_site_for_each_part_that_is_asked_for(asked: str) -> None:
    settings, name = ASKED[asked]
    model, batch = model_with(**settings), batch_of_digits()
    _, p = model.train()(batch)
    assert list(p) == ["digit", "style", "x", name]
    _, p = model.eval()(batch)
    assert list(p) == ["digit", "style", "x"]


def test_all_of_them_together_and_each_for_every_item() -> None:
    everything = {key: value for settings, _ in ASKED.values() for key, value in settings.items()}
    batch = batch_of_digits()
    _, p = model_with(**everything).train()(batch)
    names = [name for _, name in ASKED.values()]
    assert list(p)[3:] == names
    assert all(p[name].log_prob.shape == (len(batch.x),) for name in names)


def test_nothing_is_added_unasked() -> None:
    _, p = model_with(augment="affine").train()(batch_of_digits())
    assert list(p) == ["digit", "style", "x"]
