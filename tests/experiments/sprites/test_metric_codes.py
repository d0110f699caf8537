"""Codes for the metrics: masses that add up to one, and as many numbers of style as the model has."""

from __future__ import annotations

import numpy as np

from experiments.digits.class_discovery import E19, plain
from experiments.ledger.fit_defaults import fitted
from experiments.sprites.metric_codes import metric_codes
from experiments.sprites.sprites import toy_sprites


def test_the_class_comes_as_masses_and_the_style_as_means():
    data = toy_sprites(40)
    model = fitted(data, 0, {"steps": 1, "objective": {"name": "vae"}}, plain(name="vae")["model"])
    codes = metric_codes(model, data.batch(range(8)).x)
    assert np.allclose(codes["class"].values.sum(-1), 1.0, atol=1e-5)
    assert codes["style"].shape == (8, E19["style"]["size"])
