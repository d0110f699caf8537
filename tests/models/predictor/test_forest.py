"""fit_forest: the exported trees predict what scikit-learn's forests predict."""

import numpy as np
import pytest
import torch

from tests.models.predictor.test_linear import classes, numbers
from unknot.models.predictor.forest import _fit, _predict, exported, fit_forest
from unknot.models.predictor.targets import Targets


@pytest.mark.parametrize("make", [classes, numbers])
def test_exported_trees_are_those_of_scikit_learn(make) -> None:  # type: ignore[no-untyped-def]
    x, targets = make(5)
    models = _fit(x, targets, 10, 0)
    asked = np.mean([_predict(one, x, targets) for one in models], 0)
    np.testing.assert_allclose(exported(models, targets)(torch.from_numpy(x)), asked, atol=1e-5)


def test_out_of_fold_predictions_do_not_use_the_label() -> None:
    x, targets = classes(5)
    hidden = targets.fold == 1
    values = np.where(hidden, 0, targets.values)
    other = fit_forest(x, Targets(values, 3, targets.fold, targets.folds)).out_of_fold
    assert np.array_equal(fit_forest(x, targets).out_of_fold[hidden], other[hidden])
