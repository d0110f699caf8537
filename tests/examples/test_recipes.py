"""Every recipe learns what it is for, is short, and is listed in the documentation."""

from __future__ import annotations

import pytest

from tests.examples.loading import EXAMPLES, RECIPES, load

LANGUAGE = (EXAMPLES.parent / "docs" / "language.md").read_text()
LEAST = {  # steps, and a result well above chance: 50 % for two classes, 33 % for three, 25 % for four
    "adgm": (150, 0.8),
    "ccvae": (150, 0.95),
    "hmm": (60, 0.9),
    "mixture_prior": (300, 0.95),
    "two_views": (150, 0.5),
    "weak_labels": (60, 0.9),
}


@pytest.mark.parametrize("name", LEAST)
def test_it_learns(name: str) -> None:
    steps, least = LEAST[name]
    assert load(f"recipes/{name}").main(steps=steps) > least


def test_a_weight_on_the_tree_removes_correlation() -> None:
    ladder = load("recipes/ladder")
    free, weighted = (ladder.main(steps=120, beta=beta) for beta in (1.0, 20.0))
    assert free > 0.2
    assert abs(weighted) < 0.05


@pytest.mark.parametrize("name", RECIPES)
def test_it_is_short_and_listed(name: str) -> None:
    assert name in {*LEAST, "ladder"}
    assert 40 <= len((EXAMPLES / "recipes" / f"{name}.py").read_text().splitlines()) <= 80
    assert f"(../examples/recipes/{name}.py)" in LANGUAGE
