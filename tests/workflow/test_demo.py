"""The recipe of the demonstration, with and without MNIST."""

from __future__ import annotations

import pytest

from unknot.errors import DataError
from unknot.workflow import demo


def test_without_mnist_it_is_that_of_the_embedded_digits_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(name: str, data_dir: object = None) -> None:
        raise DataError("no such folder")

    monkeypatch.setattr(demo, "load", load)
    recipe, reason = demo.demo_recipe(3)
    assert reason == "no such folder"
    assert recipe.data == {"name": "digits"}
    assert recipe.labels == {"budget": {"digit": 100}, "seed": 3}


def test_with_mnist_it_is_that_of_mnist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "load", lambda name, data_dir=None: None)
    recipe, reason = demo.demo_recipe(0)
    assert reason is None
    assert recipe.data == {"name": "mnist"}
