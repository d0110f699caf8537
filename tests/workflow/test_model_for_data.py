"""The default model of a data set: families by kind, units by the labels that may be seen."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.models.spec import node, read_spec
from unknot.workflow.model_for_data import factor_node, model_for_data, with_columns

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
    assert model_for_data(from_arrays(x)).data.family == family


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
    assert found["size"]["center"] == [20.0]
    assert found["size"]["spread"] == pytest.approx([np.std([10, 30, 20])])
    assert found["where"]["center"] == pytest.approx([1.0, 5.0])
    assert found["where"]["spread"][1] == 1.0  # all the same: no spread to measure
    spec = model_for_data(data, style=2)
    assert {n.name for n in spec.nodes} == {*labels, "style", "x"}
    assert spec["many"].parents == ("kind", "yes")  # classes depend on those before them
    hidden = data.factors["size"].hide(torch.zeros(4, dtype=torch.bool))
    assert factor_node(hidden) == {"family": "normal", "size": 1}


def test_a_described_table_takes_columns_from_the_data(tmp_path) -> None:
    from unknot.data.user.user_files import read_user_data

    (tmp_path / "t.csv").write_text("age,blood\n30,A\n50,B\n,O\n")
    data = read_user_data(tmp_path / "t.csv")
    spec = read_spec([node("z", "normal", 2, inferred_from=["x"]), node("x", "table", parents=["z"])])
    filled = with_columns(spec, data)
    assert [c["kind"] for c in filled.data.columns] == ["real", "category"]
    assert filled.data.columns[0]["mean"] == 40.0
    assert filled.data.columns[1]["size"] == 3
    assert with_columns(filled, data) is filled
