"""The class-and-style model of a data set: its graph, families by kind, units by the labels that may be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.errors import SpecError
from unknot.models.spec import node, read_spec
from unknot.workflow.default_models.class_style import class_style_spec, factor_node, with_columns

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("x", "family"),
    [
        (RNG.integers(0, 256, (4, 5, 5)).astype(np.uint8), "bernoulli"),
        (RNG.random((4, 5)), "bernoulli"),
        (RNG.random((4, 5)) - 0.9, "normal"),
        (RNG.integers(0, 9, (4, 5)), "multinomial"),
        (RNG.integers(-9, 9, (4, 5)), "normal"),
    ],
)
def test_families_of_data(x: np.ndarray, family: str) -> None:
    assert class_style_spec(from_arrays(x)).data.family.name == family


def test_families_of_factors() -> None:
    labels = {
        "kind": ["a", "b", None, "a"],
        "yes": [True, False, True, True],
        "many": [3, 0, -1, 1],
        "size": [10.0, 30.0, np.nan, 20.0],
        "where": [[0.0, 5.0], [np.nan, np.nan], [2.0, 5.0], [1.0, 5.0]],
    }
    data = from_arrays(RNG.random((4, 5)), labels, kinds={"many": "count"})
    found = {name: factor_node(factor) for name, factor in data.factors.items()}
    assert found["kind"] == {"family": "concrete", "size": 2}
    assert found["yes"] == {"family": "concrete", "size": 2}
    assert found["many"] == {"family": "concrete", "size": 4}
    assert found["size"]["prior"]["center"] == [20.0]
    assert found["size"]["prior"]["spread"] == pytest.approx([np.std([10, 30, 20])])
    assert found["where"]["prior"]["center"] == pytest.approx([1.0, 5.0])
    assert found["where"]["prior"]["spread"][1] == 1.0  # all the same: no spread to measure
    spec = class_style_spec(data, style=2)
    assert {n.name for n in spec.nodes} == {*labels, "style", "x"}
    assert spec["many"].parents == ("kind", "yes")  # classes depend on those before them
    hidden = data.factors["size"].hide(torch.zeros(4, dtype=torch.bool))
    assert factor_node(hidden) == {"family": "normal", "size": 1}


def test_a_described_table_takes_columns_from_the_data(tmp_path) -> None:
    from unknot.data.readers.user_files import read_user_data

    (tmp_path / "t.csv").write_text("age,blood\n30,A\n50,B\n,O\n")
    data = read_user_data(tmp_path / "t.csv")
    spec = read_spec([node("z", "normal", 2, inferred_from=["x"]), node("x", "table", parents=["z"])])
    filled = with_columns(spec, data)
    columns = filled.data.family.options["columns"]
    assert [c["kind"] for c in columns] == ["real", "category"]
    assert columns[0]["mean"] == 40.0
    assert columns[1]["size"] == 3
    assert with_columns(filled, data) is filled


DIGITS = {"digit": np.arange(4) % 3, "light": [[0.0, 5.0], [4.0, 5.0], [2.0, 5.0], [2.0, 5.0]]}


def pixels(labels: dict[str, Any]) -> Dataset:
    return from_arrays(RNG.random((4, 5)), labels)


def test_the_graph() -> None:
    spec = class_style_spec(pixels(DIGITS), style=5)
    assert spec["digit"].inferred_from == spec["light"].inferred_from == ("x",)
    assert spec["style"].inferred_from == ("x", "digit", "light")
    assert spec["x"].parents == ("digit", "light", "style")
    assert [n.name for n in spec.labeled] == ["digit", "light"]
    assert (spec["style"].size, spec["light"].prior["center"]) == (5, [2.0, 5.0])


def test_factors_with_classes_depend_on_those_before_them() -> None:
    spec = class_style_spec(pixels({**DIGITS, "odd": [0, 1, 0, 1]}))
    assert (spec["odd"].parents, spec["odd"].inferred_from) == (("digit",), ("x", "digit"))
    assert (spec["digit"].parents, spec["light"].parents) == ((), ())


def test_settings() -> None:
    spec = class_style_spec(
        pixels(DIGITS),
        gradient="enumerate",
        augment="affine",
        width=32,
        x={"decoder": {"name": "mlp", "hidden": [7]}},
    )
    assert (spec["digit"].gradient, spec["light"].gradient) == ("enumerate", None)
    assert (spec.augment, spec.width, str(spec["x"].decoder)) == ("affine", 32, "mlp")


def test_without_factors_the_style_is_all_there_is() -> None:
    assert [n.name for n in class_style_spec(pixels({})).nodes] == ["style", "x"]


def whitened_within(data: Dataset, **settings: Any) -> str:
    encoder = class_style_spec(data, **settings)["style"].encoder
    return "" if encoder is None else encoder.options["whiten"]


def test_separate_whitens_within_the_only_factor_of_classes() -> None:
    data = pixels(DIGITS)
    assert whitened_within(data, separate=True) == "digit"
    assert whitened_within(data) == ""
    assert whitened_within(pixels({**DIGITS, "writer": [0, 1, 2, 0]}), separate=True) == ""
    assert whitened_within(data, separate=True, gradient="enumerate") == ""
    with pytest.raises(SpecError, match="the data have no labels"):
        class_style_spec(pixels({}), separate=True)
