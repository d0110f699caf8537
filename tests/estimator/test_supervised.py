"""The classifier and the regressor: all of scikit-learn's own checks, and its tools at work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from unknot.errors import DataError, SpecError
from unknot.estimator import StructuredClassifier, StructuredRegressor
from unknot.workflow.default_models import TableEnsemble

FAST: dict[str, Any] = {
    "model": "class_style",
    "style": 2,
    "steps": 30,
    "batch_size": 64,
    "learning_rate": 2e-2,
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([StructuredClassifier(**FAST), StructuredRegressor(**FAST)])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_words_and_minus_one_are_classes() -> None:
    x, y = load_iris(return_X_y=True)
    named = StructuredClassifier(**FAST).fit(x, np.array(["a", "b", "c"])[y])
    assert named.classes_.tolist() == ["a", "b", "c"]
    assert named.score(x, np.array(["a", "b", "c"])[y]) > 0.8
    signs = np.where(y == 0, -1, 1)
    assert StructuredClassifier(**FAST).fit(x, signs).score(x, signs) > 0.9


def test_grid_search_calibration_and_area_under_the_curve() -> None:
    x, y = load_iris(return_X_y=True)
    search = GridSearchCV(StructuredClassifier(**FAST), {"alpha": [1.0, 20.0]}, cv=2, scoring="roc_auc_ovr")
    assert search.fit(x, y).best_score_ > 0.9
    calibrated = CalibratedClassifierCV(StructuredClassifier(**FAST), cv=2).fit(x, y)
    assert roc_auc_score(y, calibrated.predict_proba(x), multi_class="ovr") > 0.9


def test_a_regressor_learns_numbers() -> None:
    x, y = load_diabetes(return_X_y=True)
    x[::5, 2] = np.nan  # gaps are missing entries
    assert StructuredRegressor(**{**FAST, "steps": 150}).fit(x, y).score(x, y) > 0.3


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y"),
        ([0.0, np.nan] * 5, "NaN"),
        (["a", None] * 5, "None"),
        ([1] * 10, "one class only"),
    ],
)
def test_labels_that_are_refused(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        StructuredClassifier(**FAST).fit(np.random.default_rng(0).normal(size=(10, 2)), y)


def test_the_default_is_chosen_by_the_data_and_verdicts_can_be_left_out(
    recwarn: pytest.WarningsRecorder,
) -> None:
    x, y = load_iris(return_X_y=True)
    quick = StructuredClassifier(steps=2, style=3, verdict=False).fit(x, y)
    assert quick.vae_.trained_.source.default == TableEnsemble(style=3)
    assert not recwarn.list
    with pytest.raises(SpecError, match="an ensemble is trained by its own bound"):
        StructuredClassifier(alpha=2.0).fit(x, y)
