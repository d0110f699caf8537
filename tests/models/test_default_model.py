"""The default model: S17's class and style for any number of factors."""

from __future__ import annotations

from unknot.models.default_model import default_model

FACTORS = {
    "digit": {"family": "concrete", "size": 10},
    "light": {"family": "normal", "size": 2, "centre": [1.0, 2.0], "spread": [1.0, 1.0]},
}


def test_the_graph() -> None:
    spec = default_model("bernoulli", FACTORS, style=5)
    assert spec["digit"].recognised_from == spec["light"].recognised_from == ("x",)
    assert spec["style"].recognised_from == ("x", "digit", "light")
    assert spec["x"].parents == ("digit", "light", "style")
    assert [n.name for n in spec.labelled] == ["digit", "light"]
    assert (spec["style"].size, spec["light"].centre) == (5, (1.0, 2.0))


def test_options() -> None:
    spec = default_model("bernoulli", FACTORS, gradient="enumerate", augment="affine", width=32)
    assert (spec["digit"].gradient, spec["light"].gradient) == ("enumerate", None)
    assert (spec.augment, spec.width) == ("affine", 32)


def test_without_factors_the_style_is_all_there_is() -> None:
    spec = default_model("normal", {})
    assert [n.name for n in spec.nodes] == ["style", "x"]
