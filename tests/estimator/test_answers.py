"""Sets, intervals, novelty and explanations of the estimators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.statistics import standard_errors
from unknot import StructuredClassifier, StructuredRegressor, StructuredVAE
from unknot.errors import SpecError
from unknot.workflow.answers import listed

RNG = np.random.default_rng(0)
COUNT, LABELED = 900, 150
KIND = RNG.integers(0, 3, COUNT)
NAMES = np.array(["oil", "ink", "chalk"])
X = pd.DataFrame({"a": 1.3 * KIND + RNG.normal(size=COUNT), "b": RNG.normal(size=COUNT)})
SIZE = 2.0 * X["a"].to_numpy() + RNG.normal(size=COUNT)
QUICK = {"model": {"kind": "ensemble", "folds": 3}, "steps": 40, "verbose": False, "verdict": False}
NEW = slice(LABELED, None)


def far_from(share: float, references: int, items: int) -> float:
    """How far a share may be from its expectation: its threshold is a quantile of few references."""
    return standard_errors() * (share * (1 - share) * (1 / references + 1 / items)) ** 0.5


@pytest.fixture(scope="module")
def fitted() -> StructuredVAE:
    kind = [NAMES[k] if i < LABELED else None for i, k in enumerate(KIND)]
    size = np.where(np.arange(COUNT) < LABELED, SIZE, np.nan)
    return StructuredVAE(**QUICK).fit(X, kind=kind, size=size)


def test_sets_cover_nine_of_ten_new_items(fitted: StructuredVAE) -> None:
    mask = fitted.predict_set(X[NEW], "kind", as_mask=True)
    columns = np.array([fitted.classes_["kind"].index(name) for name in NAMES])[KIND[NEW]]
    assert abs(mask[np.arange(len(mask)), columns].mean() - 0.9) < far_from(0.9, LABELED, 750)
    sets = fitted.predict_set(X[NEW], "kind")
    assert [len(one) for one in sets] == mask.sum(1).tolist()
    assert [one[0] for one in sets] == fitted.predict(X[NEW], "kind").tolist()  # the most probable one first
    assert all(set(one) <= set(NAMES) for one in sets)
    smaller = fitted.predict_set(X[NEW], "kind", level=0.5, as_mask=True)
    assert (smaller <= mask).all()
    with pytest.raises(SpecError, match="'size' is continuous: it has intervals"):
        fitted.predict_set(X, "size")
    with pytest.raises(SpecError, match="level between 0 and 1, but got 90"):
        fitted.predict_set(X, "kind", level=90)


def test_intervals_cover_nine_of_ten_new_items(fitted: StructuredVAE) -> None:
    ends = fitted.predict_interval(X[NEW], "size")
    truth = SIZE[NEW]
    assert abs(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() - 0.9) < far_from(0.9, LABELED, 750)
    middle = fitted.predict(X[NEW], "size")
    np.testing.assert_allclose(ends.mean(1), middle, rtol=1e-4, atol=1e-4)


def test_novelty_has_its_false_alarm_rate_and_finds_what_is_far_away(fitted: StructuredVAE) -> None:
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, 1000)
    new = pd.DataFrame({"a": 1.3 * kind + rng.normal(size=1000), "b": rng.normal(size=1000)})
    values = fitted.novelty(new)
    assert abs((values <= 0.1).mean() - 0.1) < far_from(0.1, 600, 1000)
    assert (fitted.novelty(pd.DataFrame({"a": [40.0], "b": [-30.0]})) <= 0.01).all()


def test_rows_that_cannot_be_read(fitted: StructuredVAE) -> None:
    odd = X[:3].astype(object)
    odd.loc[1, "a"] = "?!"
    with pytest.warns(UserWarning, match="has no prediction"):
        sets, values = fitted.predict_set(odd, "kind"), fitted.novelty(odd)
    assert [len(one) > 0 for one in sets] == [True, False, True]
    assert np.isnan(values).tolist() == [False, True, False]
    with pytest.warns(UserWarning, match="has no prediction"):
        assert np.isnan(fitted.predict_interval(odd, "size")[1]).all()


def test_the_column_that_matters_comes_first(fitted: StructuredVAE) -> None:
    found = fitted.explain(X[:100], "kind")
    assert found.to_dict()["name"] == ["a", "b"]
    assert found.importance[0] > 3 * found.importance[1]
    assert found.contributions.shape == (100, 2)


def test_answers_are_saved_with_the_model(fitted: StructuredVAE, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    assert again.predict_set(X[:50], "kind") == fitted.predict_set(X[:50], "kind")
    np.testing.assert_array_equal(
        again.predict_interval(X[:50], "size"), fitted.predict_interval(X[:50], "size")
    )
    np.testing.assert_array_equal(again.novelty(X[:50]), fitted.novelty(X[:50]))
    assert again.explain(factor="kind").names == ("a", "b")  # of the training items that the model keeps


def test_a_model_that_was_not_cross_fitted_says_what_to_do() -> None:
    vae = StructuredVAE(**QUICK | {"steps": 2, "cross_fit": 0}).fit(X[:40], kind=KIND[:40])
    for ask in (vae.predict_set, vae.novelty):
        with pytest.raises(SpecError, match="ask with cross_fit=3"):
            ask(X[:3])


def test_estimators_of_one_label() -> None:
    quick = {key: value for key, value in QUICK.items() if key != "verbose"}
    classifier = StructuredClassifier(**quick).fit(X[:60], NAMES[KIND[:60]])
    sets, mask = classifier.predict_set(X[60:80]), classifier.predict_set(X[60:80], as_mask=True)
    assert [one[0] for one in sets] == classifier.predict(X[60:80]).tolist()
    assert [sorted(one) for one in sets] == [sorted(classifier.classes_[row]) for row in mask]
    assert classifier.novelty(X[60:80]).shape == (20,)
    assert set(classifier.explain(X[60:70]).names) == {"a", "b"}  # not by their position
    regressor = StructuredRegressor(**quick).fit(X[:60], SIZE[:60])
    ends = regressor.predict_interval(X[60:80], level=0.5)
    assert (ends[:, 0] < regressor.predict(X[60:80])).all()
    assert ((ends[:, 1] - ends[:, 0]) < np.diff(regressor.predict_interval(X[60:80]), axis=1)[:, 0]).all()


def test_lists_of_sets() -> None:
    shares = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    mask = np.array([[True, True, False], [False, False, False]])
    assert listed(mask, shares, ["x", "y", "z"]) == [["y", "x"], []]
