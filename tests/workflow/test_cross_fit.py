"""Cross-fitting: every label has a prediction by models that did not see it, and default models are stacked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from tests.models.tables import table
from unknot.data import from_arrays, from_texts
from unknot.data.dataset import Dataset
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.cross_fit import _item_folds, _without_labels, cross_fitted
from unknot.workflow.default_models.choose import choose
from unknot.workflow.default_models.series import Series
from unknot.workflow.trained_model import TrainedModel

QUICK = {"steps": 4, "progress": False}


def trained(data: Dataset, **train: object) -> TrainedModel:
    made = assemble(data, {}, {**QUICK, **train})
    result = fit(made.model.module, made.data, made.config)
    return cross_fitted(made.model, made.data, made.config, result)


def texts(count: int = 30) -> Dataset:
    words = (["red car stops", "car engine"], ["blue boat sails", "boat water"])
    y = np.arange(count) % 2
    x = [words[k][i % 3 > 0] + f" number {i % 7}" for i, k in enumerate(y)]
    return from_texts(x, {"kind": np.where(np.arange(count) < 20, y, -1)})


def test_texts_are_stacked_and_every_label_is_predicted_out_of_fold() -> None:
    data = texts()
    model = trained(data)
    found = model.out_of_fold["kind"]
    assert found.ids.tolist() == list(range(20))
    assert found.predictions.shape == found.linear.shape == (20, 2)
    np.testing.assert_allclose(found.predictions.sum(1), 1, atol=1e-5)
    assert model.predictors is not None
    assert "kind" in model.predictors
    assert found.error <= 0.1
    predictions = model.predict(data.batch(range(30)).x).predictions["kind"]
    assert predictions.argmax(1).tolist() == [i % 2 for i in range(30)]


def test_the_trained_model_is_not_changed_and_zero_folds_ask_for_nothing() -> None:
    data = texts()
    alone = trained(data, cross_fit=0)
    stacked = trained(data)
    assert alone.predictors is None
    assert not alone.out_of_fold
    for one, other in zip(alone.module.parameters(), stacked.module.parameters(), strict=True):
        assert torch.equal(one, other)


def test_components_of_an_ensemble_are_its_features() -> None:
    draw = np.random.default_rng(0)
    y = np.arange(30) % 2
    x = (draw.normal(size=(30, 600)) + 0.5 * y[:, None]).astype(np.float32)
    model = trained(from_arrays(x, {"kind": np.where(np.arange(30) < 20, y, -1)}))
    assert model.predictors is not None
    features = model.predictors.features
    assert features is not None
    program = model.module.get_submodule("components")
    rows = torch.from_numpy(x)
    assert torch.equal(features(rows), program(rows))


def test_labels_of_all_factors_of_an_item_are_hidden_together() -> None:
    data = table(40, labeled=30)
    rows, folds = _item_folds(data, 3, 0)
    assert folds.bincount().tolist() == [10, 10, 10]
    hidden = _without_labels(data, rows[folds == 1])
    for factor in hidden.factors.values():
        assert factor.known.nonzero()[:, 0].tolist() == rows[folds != 1].tolist()


def test_series_have_a_default_of_their_own() -> None:
    x = np.random.default_rng(0).normal(size=(20, 2, 30)).astype(np.float32)
    data = from_arrays(x, {"kind": np.arange(20) % 2})
    assert choose(data) is Series
    spec = Series().spec(data)
    assert (len(spec.columns), spec.components) == (
        19,
        {"columns": 60, "counts": False, "channels": 2, "steps": 30},
    )
    assert Series.unsuitable(replace(data, factors={})) == "needs labels"
    assert "series" in Series.unsuitable(from_arrays(np.zeros((5, 28, 28), np.uint8)))
