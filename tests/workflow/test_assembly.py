"""One assembly: what is put together, the defaults of every door, and what is refused before training."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unknot import StructuredVAE
from unknot.data import load
from unknot.data.from_arrays import from_arrays
from unknot.errors import SpecError
from unknot.workflow.assembly import assemble, model_source, train_config

X = np.random.default_rng(0).random((40, 5)).astype(np.float32)


def test_recipes_and_estimators_start_from_the_same_weights() -> None:
    data = from_arrays(X, {"kind": np.arange(40) % 3})
    made = assemble(data, {"kind": "class_style", "style": 3}, {"steps": 1, "seed": 5, "progress": False})
    vae = StructuredVAE("class_style", style=3, steps=1, seed=5, verbose=False).fit(X, kind=np.arange(40) % 3)
    before = made.model.module.state_dict()
    assert before.keys() == vae.trained_.module.state_dict().keys()
    from unknot.train.loop import fit

    fit(made.model.module, made.data, made.config)
    after = vae.trained_.module.state_dict()
    assert all(torch.equal(weight, after[name]) for name, weight in made.model.module.state_dict().items())


def test_the_defaults_are_written_once() -> None:
    data = from_arrays(X, {"kind": np.where(np.arange(40) < 5, np.arange(40) % 3, -1)})
    config = train_config(data, {})
    assert (config.steps, config.batch_size) == (1000, 40)
    assert config.objective == {"name": "semi_supervised", "alpha": 20.0}
    assert config.labeled_share == pytest.approx(1 / 3)
    assert train_config(from_arrays(X), {}).objective == "elbo"
    assert train_config(data, {"epochs": 2}).steps is None


def test_mistakes_are_seen_before_anything_is_trained() -> None:
    data = from_arrays(X, {"kind": np.arange(40) % 3})
    with pytest.raises(SpecError, match="unknown key 'stile'; did you mean 'style'"):
        assemble(data, {"stile": 3}, {})
    with pytest.raises(SpecError, match="labels for 'size', but the model takes labels of kind"):
        assemble(data, {}, {}, labels=["size"])
    with pytest.raises(SpecError, match="objective: there is no 'elbow'"):
        assemble(data, {"kind": "class_style"}, {"objective": "elbow"})


def test_ink_is_seen_in_drawn_digits_alone() -> None:
    digits = load("digits").split("test")
    assert assemble(digits, {}, {}).model.ink
    assert not assemble(from_arrays(X), {}, {}).model.ink
    assert model_source(digits, {}).to_dict()["nodes"]["x"]["family"] == "bernoulli"
