"""Resuming a convolutional model, whose weights lie in another order in memory than in a file."""

from pathlib import Path

import numpy as np
import torch

from unknot import StructuredVAE
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import resume, train_recipe


def recipe(steps: int) -> Recipe:
    train = {"steps": steps, "batch_size": 60, "checkpoint_every": 3}
    return Recipe({"name": "digits"}, {"budget": {"digit": 50}}, {}, train)


def test_a_resumed_run_ends_in_the_same_weights(tmp_path: Path) -> None:
    whole, _ = train_recipe(recipe(6), tmp_path / "whole")
    train_recipe(recipe(3), tmp_path / "parts")
    parts, _ = resume(tmp_path / "parts", {"train.steps": 6}, None)
    expected = whole.model.module.state_dict()
    convolution = expected["trunk.network.network.3.weight"]
    assert not convolution.is_contiguous()  # colors last: this is the case that the test is about
    for name, weight in parts.model.module.state_dict().items():
        assert torch.equal(weight, expected[name]), name


def test_a_saved_convolutional_model_answers_as_before(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 255, (40, 8, 8)).astype(np.uint8)
    vae = StructuredVAE(steps=2, verbose=False).fit(images, digit=np.arange(40) % 4)
    vae.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    np.testing.assert_array_equal(vae.predict_proba(images), again.predict_proba(images))
