"""Boosting: the exact one is scikit-learn's, and both find the column that matters."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from unknot.metrics.parts.predictors import fit_boosting

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
CLASS = (X[:, 1] > 0).astype(int)


def test_exact() -> None:
    model, importance = fit_boosting(X, CLASS, True, 10, 3, False, 0)
    theirs = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, CLASS)
    assert (importance == theirs.feature_importances_).all()
    assert model.score(X, CLASS) == 1


@pytest.mark.parametrize("histogram", [True, False])
@pytest.mark.parametrize("discrete", [True, False])
def test_importances_are_shares(histogram: bool, discrete: bool) -> None:
    target = CLASS if discrete else 3 * X[:, 1]
    _, importance = fit_boosting(X, target, discrete, 20, 3, histogram, 0)
    assert importance.sum() == pytest.approx(1)
    assert importance[1] > 0.95
