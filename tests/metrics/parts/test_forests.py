"""A forest cut at a depth is a forest grown to that depth; its importances are scikit-learn's."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from unknot.metrics.parts.predictors import Forest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
CLASS = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=300), [-0.5, 0.5]) + 4.0
NUMBER = X[:, 0] ** 2 + X[:, 1] + 0.1 * RNG.normal(size=300)
TEST = RNG.normal(size=(200, 3))
TEST_CLASS = np.digitize(TEST[:, 0] + 0.5 * TEST[:, 1], [-0.5, 0.5]) + 4.0
TEST_NUMBER = TEST[:, 0] ** 2 + TEST[:, 1]


def grown(discrete: bool, depth: int) -> RandomForestClassifier | RandomForestRegressor:
    kind = RandomForestClassifier if discrete else RandomForestRegressor
    return kind(n_estimators=4, max_depth=depth, max_features=1.0, random_state=0)


@pytest.mark.parametrize("discrete", [True, False])
def test_a_cut_forest_is_a_forest_grown_so_far(discrete: bool) -> None:
    """Splits may use every column and values have no ties, so nothing is drawn but the trees' rows."""
    y, test = (CLASS, TEST_CLASS) if discrete else (NUMBER, TEST_NUMBER)
    forest = Forest(X, y, discrete, 4, 32, 0)
    depths = (1, 2, 3, 5, 32)
    for depth, score in zip(depths, forest.scores(TEST, test, depths), strict=True):
        small = grown(discrete, depth).fit(X, y)
        assert score == pytest.approx(small.score(TEST, test), abs=0.03 if discrete else 0.02)
        assert forest.importances(depth) == pytest.approx(small.feature_importances_, abs=0.02)


@pytest.mark.parametrize("discrete", [True, False])
def test_uncut_it_is_scikit_learns(discrete: bool) -> None:
    y, test = (CLASS, TEST_CLASS) if discrete else (NUMBER, TEST_NUMBER)
    forest, theirs = Forest(X, y, discrete, 4, 32, 0), grown(discrete, 32).fit(X, y)
    assert forest.scores(TEST, test, [32])[0] == pytest.approx(theirs.score(TEST, test))
    assert forest.importances(32) == pytest.approx(theirs.feature_importances_)


def test_a_tree_without_splits_has_no_importances() -> None:
    forest = Forest(np.zeros((30, 2)), np.arange(30) % 3, True, 2, 4, 0)
    assert forest.importances(4).tolist() == [0, 0]
