"""The default model: S17's class and style for any number of factors."""

from __future__ import annotations

import pytest

from unknot.errors import SpecError
from unknot.models.default_model import default_model

FACTORS = {
    "digit": {"family": "concrete", "size": 10},
    "light": {"family": "normal", "size": 2, "center": [1.0, 2.0], "spread": [1.0, 1.0]},
}


def test_the_graph() -> None:
    spec = default_model("bernoulli", FACTORS, style=5)
    assert spec["digit"].inferred_from == spec["light"].inferred_from == ("x",)
    assert spec["style"].inferred_from == ("x", "digit", "light")
    assert spec["x"].parents == ("digit", "light", "style")
    assert [n.name for n in spec.labeled] == ["digit", "light"]
    assert (spec["style"].size, spec["light"].center) == (5, (1.0, 2.0))


def test_factors_with_classes_depend_on_those_before_them() -> None:
    spec = default_model("bernoulli", {**FACTORS, "odd": {"family": "concrete", "size": 2}})
    assert (spec["odd"].parents, spec["odd"].inferred_from) == (("digit",), ("x", "digit"))
    assert (spec["digit"].parents, spec["light"].parents) == ((), ())


def test_options() -> None:
    spec = default_model("bernoulli", FACTORS, gradient="enumerate", augment="affine", width=32)
    assert (spec["digit"].gradient, spec["light"].gradient) == ("enumerate", None)
    assert (spec.augment, spec.width) == ("affine", 32)


def test_without_factors_the_style_is_all_there_is() -> None:
    spec = default_model("normal", {})
    assert [n.name for n in spec.nodes] == ["style", "x"]


def test_separate_whitens_within_the_only_factor_of_classes_and_prices_the_rest() -> None:
    spec = default_model("bernoulli", FACTORS, separate=True)
    assert (spec["style"].whiten, spec.swap, spec.independence) == ("digit", 1.0, 1000.0)
    assert default_model("bernoulli", FACTORS, separate=True, swap=2.0).swap == 2.0
    assert default_model("bernoulli", FACTORS)["style"].whiten == ""
    two = {**FACTORS, "writer": {"family": "concrete", "size": 3}}
    assert default_model("bernoulli", two, separate=True)["style"].whiten == ""
    assert default_model("bernoulli", FACTORS, separate=True, gradient="enumerate")["style"].whiten == ""
    with pytest.raises(SpecError, match="there is none"):
        default_model("bernoulli", {}, separate=True)
