"""fit(..., given=...): columns or values beside the items, which predictions and vary condition on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

from tests.cells import small_cells
from unknot import StructuredVAE
from unknot.errors import SpecError, UnknotWarning


def frame(count: int = 80) -> pandas.DataFrame:
    draw = np.random.default_rng(0)
    donor, kind = draw.integers(0, 2, count), draw.integers(0, 2, count)
    noise = draw.normal(0, 0.1, (2, count))
    made = pandas.DataFrame({"a": 3.0 * kind + noise[0], "b": 2.0 * donor + noise[1]})
    return made.assign(donor=np.where(donor, "d1", "d0"), kind=np.where(kind, "u", "v"))


def test_a_column_of_a_frame_is_given_and_can_be_changed(tmp_path: Path) -> None:
    table = frame()
    kind = table.pop("kind").to_numpy()
    model = StructuredVAE(style=1, steps=150, verbose=False, verdict=False).fit(
        table, given="donor", kind=kind
    )
    assert model.trained_.data.columns == ("a", "b")
    assert (model.predict(table) == kind).mean() > 0.95
    changed = model.vary(table, donor=["d0", "d1"])
    assert changed.shape == (80, 2, 2)
    assert np.abs(changed[:, 0] - changed[:, 1]).max() > 1e-4
    assert np.array_equal(model.vary(table, donor="d1")[:, 0], changed[:, 1])
    with pytest.warns(UnknotWarning, match=r"a 'donor' that the training data do not have \(d9\)"):
        other = model.predict_proba(table.assign(donor="d9"))
    with pytest.warns(UnknotWarning, match="there are no values of donor"):
        assert np.allclose(model.predict_proba(table.drop(columns="donor")), other)
    model.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(table), model.predict_proba(table))
    with pytest.raises(SpecError, match="the model was not given 'age', only donor"):
        model.predict(table, given={"age": np.zeros(80)})


def test_arrays_are_given_by_value_and_cells_by_column() -> None:
    table = frame()
    rows, kind = table[["a", "b"]].to_numpy(), table["kind"].to_numpy()
    model = StructuredVAE(style=1, steps=20, verbose=False, verdict=False)
    model.fit(rows, given={"donor": table["donor"].to_numpy()}, kind=kind)
    assert list(model.trained_.data.given) == ["donor"]
    assert model.transform(rows, given={"donor": table["donor"]}).shape == (80, 3)
    with pytest.raises(SpecError, match="given names columns of a frame or of AnnData's obs"):
        model.predict(rows, given="donor")
    adata = small_cells()
    model.fit(adata, label="kind", given=["donor", "age"])
    assert {name: one.kind for name, one in model.trained_.data.given.items()} == {
        "donor": "categorical",
        "age": "continuous",
    }
    assert model.predict(adata).shape == (60,)
    with pytest.raises(SpecError, match="the model was fitted without"):
        StructuredVAE(steps=5, verbose=False, verdict=False).fit(rows, kind=kind).predict(
            rows, given={"donor": kind}
        )
