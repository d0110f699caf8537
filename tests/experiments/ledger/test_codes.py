"""Codes for the metrics: masses that add up to one, and as many numbers of style as the model has."""

from __future__ import annotations

import numpy as np
import torch

from experiments.digits.class_discovery import E19, plain
from experiments.ledger.codes import fixed_traces, metric_codes
from experiments.ledger.fit import fitted
from experiments.sprites.sprites import toy_sprites


def test_the_class_comes_as_masses_and_the_style_as_means():
    data = toy_sprites(40)
    model = fitted(data, 0, {"steps": 1, "objective": {"name": "vae"}}, plain(name="vae")["model"])
    codes = metric_codes(model, data.batch(range(8)).x)
    assert np.allclose(codes["class"].values.sum(-1), 1.0, atol=1e-5)
    assert codes["style"].shape == (8, E19["style"]["size"])


# ---- The same draws at every call, and nobody else's draws disturbed -------------------------------------


def test_two_calls_draw_the_same_and_leave_the_generator_alone():
    data = toy_sprites(40)
    model = fitted(data, 0, {"steps": 1}, {"style": 2})
    x = data.batch(range(8)).x
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    first, second = fixed_traces(model, x)[0], fixed_traces(model, x)[0]
    assert torch.equal(before, torch.random.get_rng_state())
    for name in first:
        assert torch.equal(first[name].value, second[name].value)
