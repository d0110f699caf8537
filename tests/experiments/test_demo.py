"""The demonstration's recipe."""

from __future__ import annotations

import pytest

from unknot.errors import DataError
from unknot.workflow import demo


def test_it_is_mnist_where_mnist_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "load", lambda name, data_dir=None: None)
    recipe, excuse = demo.demo_recipe(seed=3)
    assert (recipe.data, excuse) == ({"name": "mnist"}, None)
    assert recipe.labels == {"budget": {"digit": 100}, "seed": 3}
    assert recipe.train["seed"] == 3


def test_it_says_why_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str, data_dir: object = None) -> None:
        raise DataError("no file")

    monkeypatch.setattr(demo, "load", absent)
    recipe, excuse = demo.demo_recipe(seed=0)
    assert recipe.data == {"name": "digits"}
    assert excuse == "no file"
