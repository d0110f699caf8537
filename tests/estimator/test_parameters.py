"""Constructor arguments that cannot be are refused by name; those of a saved model are plain data."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from unknot import StructuredVAE
from unknot.errors import SpecError
from unknot.estimator.parameters import plain_parameters

X = np.random.default_rng(0).random((20, 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": -1}, "alpha weighs the labels: a number of at least 0, but got -1"),
        ({"alpha": float("nan")}, "alpha weighs the labels"),
        ({"alpha": "large"}, "alpha weighs the labels"),
        ({"style": 0}, "style is how many numbers describe the rest"),
        ({"style": 2.5}, "style is how many"),
        ({"steps": 0}, "steps is a whole number of at least 1"),
        ({"kinds": ["categorical"]}, "kinds is a mapping such as"),
        ({"text": "counts"}, "text is a mapping such as"),
        ({"model": 5}, "a model is a dictionary, a YAML file or a list of nodes, but got 5"),
    ],
)
def test_arguments_that_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        StructuredVAE(**{"steps": 2, "verbose": False, **given}).fit(X, kind=np.arange(20) % 2)


def test_arguments_come_back_from_json() -> None:
    rate = {"name": "cosine", "start": 1e-3}
    vae = StructuredVAE(steps=7, kinds=MappingProxyType({"a": "count"}), learning_rate=rate)
    plain = json.loads(json.dumps(plain_parameters(vae)))
    assert plain == {**StructuredVAE().get_params(), "steps": 7, "kinds": {"a": "count"},
                     "learning_rate": rate}  # fmt: skip


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """scikit-learn's searches choose them from arrays."""
    chosen = {"steps": np.int64(2), "style": np.int64(2), "alpha": np.float64(3), "seed": np.int64(1)}
    vae = StructuredVAE(**chosen, verbose=False, verdict=False).fit(X, kind=np.arange(20) % 2)
    vae.save(tmp_path / "model")
    assert StructuredVAE.load(tmp_path / "model").get_params() == vae.get_params()


def test_what_is_not_plain_is_named() -> None:
    with pytest.raises(SpecError, match=r"a StructuredVAE with objective=.* cannot be saved"):
        plain_parameters(StructuredVAE(objective=lambda q, p: None))
