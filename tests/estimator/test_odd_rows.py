"""New items of a table that do not fit: unknown categories, cells that cannot be read, mappings."""

from __future__ import annotations

import numpy as np
import pytest

from tests.estimator.small import small
from unknot import StructuredClassifier, StructuredRegressor
from unknot.errors import DataError, SpecError, UnknotWarning

pandas = pytest.importorskip("pandas")
KIND = np.arange(60) % 3


def frame() -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    age, smokes = 40.0 + 10 * KIND + rng.normal(0, 2, 60), KIND == 1
    return pandas.DataFrame({"age": age, "smokes": smokes * 1, "blood": np.array(["A", "B", "O"])[KIND]})


@pytest.mark.parametrize("labels", [KIND, np.array(["x", "y", "z"])[KIND], KIND + 0.5])
def test_an_odd_row_has_no_prediction(labels: np.ndarray) -> None:
    vae = small().fit(frame(), outcome=labels)
    odd = frame().astype({"age": object, "smokes": object})
    odd.loc[4, "age"], odd.loc[5, "smokes"] = "old", 3
    with pytest.warns(UnknotWarning) as warned:
        predicted = vae.predict(odd)
    assert "x, column 'age', row 4: got 'old', expected a number; the row has no prediction" in str(
        warned[0].message
    )
    assert "x, column 'smokes', row 5: got" in str(warned[1].message)
    others = np.setdiff1d(np.arange(60), [4, 5])
    assert predicted[others].tolist() == vae.predict(frame())[others].tolist()
    assert all(value is None or np.isnan(value) for value in predicted[[4, 5]])
    with pytest.raises(DataError, match="row 4: got 'old', expected a number"):
        vae.predict(odd, errors="raise")
    with pytest.raises(DataError, match="row 4: got 'old', expected a number"):
        vae.transform(odd)
    with pytest.raises(SpecError, match="errors is 'warn' or 'raise', but got 'ignore'"):
        vae.predict(odd, errors="ignore")


def test_an_unknown_category_is_missing() -> None:
    vae = small().fit(frame(), outcome=KIND)
    new, gap = frame(), frame()
    new.loc[2, "blood"], gap.loc[2, "blood"] = "AB", None
    with pytest.warns(UnknotWarning, match="column 'blood': there are 'AB', which no training row has"):
        found = vae.predict_proba(new)
    np.testing.assert_array_equal(found, vae.predict_proba(gap))
    with pytest.raises(DataError, match="got 'AB', expected one of A, B, O"):
        vae.predict_proba(new, errors="raise")


def test_rows_of_complete_numbers_that_are_not_finite() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    vae, odd = small().fit(x, outcome=KIND), x.copy()
    odd[7, 1], odd[9, 2] = np.nan, np.inf
    with pytest.warns(UnknotWarning, match="NaN or infinity in row 7, 9, where"):
        shares = vae.predict_proba(odd)
    assert np.nonzero(np.isnan(shares).any(1))[0].tolist() == [7, 9]
    np.testing.assert_array_equal(np.delete(shares, [7, 9], 0), np.delete(vae.predict_proba(x), [7, 9], 0))
    with pytest.raises(DataError, match="infinity"):
        vae.predict(odd, errors="raise")


def test_infinity_in_a_table_with_gaps() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    x[::5, 0] = np.nan
    vae, odd = small().fit(x, outcome=KIND), x.copy()
    odd[7, 1] = np.inf
    with pytest.warns(
        UnknotWarning, match="column 'column 1', row 7: got inf, expected a number; the row has no"
    ):
        predicted = vae.predict(odd)
    assert np.nonzero(np.isnan(predicted))[0].tolist() == [7]


def test_the_supervised_estimators_do_the_same() -> None:
    odd = frame().astype({"age": object})
    odd.loc[4, "age"] = "old"
    classifier = StructuredClassifier("class_style", style=2, steps=4).fit(
        frame(), np.array(["x", "y", "z"])[KIND]
    )
    regressor = StructuredRegressor("class_style", style=2, steps=4).fit(frame(), KIND + 0.5)
    for estimator in (classifier, regressor):
        with pytest.warns(UnknotWarning, match="row 4: got 'old'"):
            predicted = estimator.predict(odd)
        assert [i for i, one in enumerate(predicted) if one is None or one != one] == [4]
        with pytest.raises(DataError, match="row 4: got 'old'"):
            estimator.predict(odd, errors="raise")


def test_mappings_are_rows() -> None:
    records = frame().to_dict("records")
    for estimator in (small(), StructuredClassifier("class_style", style=2, steps=4)):
        estimator.fit(frame(), KIND)
        shares = estimator.predict_proba(frame())
        np.testing.assert_array_equal(estimator.predict_proba(records), shares)
        backwards = dict(reversed(records[3].items()))
        np.testing.assert_allclose(estimator.predict_proba(backwards), shares[3:4], rtol=1e-5)
    with pytest.raises(DataError, match="no column 'blood'"):
        small().fit(frame(), label=KIND).predict({"age": 40.0, "smokes": 1})
