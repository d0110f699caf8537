"""Losses of an encoder and a linear model on the same items, against counting by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.comparison import compare, compare_out_of_fold, linear_predictions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
KIND = np.where(np.arange(150) % 3 == 0, -1, (X[:, 0] > 0).astype(int))
LABELS = {"kind": KIND, "size": X[:, 1] ** 2}
DATA = from_arrays(X, LABELS, classes={"kind": "ab"})
SEEN, HELD_OUT = DATA.subset(range(100)), DATA.subset(range(100, 150))


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    torch.manual_seed(0)
    nodes = [
        node("kind", "concrete", 2, inferred_from=["x"], labels=True),
        node("size", "normal", 1, inferred_from=["x"], labels=True),
        node("x", "normal", parents=["kind", "size"]),
    ]
    return like(nodes, DATA)


def test_held_out_items_are_compared_where_their_label_is_known(model: TrainedModel) -> None:
    kind, size = compare(model, SEEN, HELD_OUT)
    truth, known = KIND[100:], KIND[100:] >= 0
    said = predict_dataset(model, HELD_OUT).predictions
    np.testing.assert_array_equal(kind.model, (said["kind"].argmax(1) != truth)[known])
    shown = SEEN.subset(torch.from_numpy(KIND[:100] >= 0))
    linear = linear_predictions(shown, "kind", 2, HELD_OUT.subset(torch.from_numpy(known))).argmax(1)
    np.testing.assert_array_equal(kind.linear, linear != truth[known])
    assert (kind.labels, kind.fitted, len(kind.training)) == (len(shown),) * 3
    assert kind.of == size.of == "held-out"
    squares = (said["size"][:, 0] - LABELS["size"][100:]) ** 2
    np.testing.assert_allclose(size.model, squares, rtol=1e-4)
    constant = LABELS["size"][:100].mean()
    np.testing.assert_allclose(size.constant, (constant - LABELS["size"][100:]) ** 2, rtol=1e-4)


def test_given_predictions_are_used(model: TrainedModel) -> None:
    predictions = predict_dataset(model, HELD_OUT)
    for one, other in zip(
        compare(model, SEEN, HELD_OUT), compare(model, SEEN, HELD_OUT, predictions), strict=True
    ):
        np.testing.assert_array_equal(one.model, other.model)


def test_without_held_out_labels_the_training_labels_are_compared(model: TrainedModel) -> None:
    bare = from_arrays(X[100:])
    for held_out in (None, bare):
        for one in compare(model, SEEN, held_out):
            assert one.of == "training"
            assert not one.unseen
            np.testing.assert_array_equal(one.model, one.training)
            assert len(one.linear) == len(one.training) == one.fitted


def test_factors_with_few_labels_or_one_class_have_no_comparison(model: TrainedModel) -> None:
    few = from_arrays(X, {"kind": np.where(np.arange(150) < 9, KIND.clip(0), -1)}, classes={"kind": "ab"})
    assert compare(model, few, HELD_OUT) == []
    same = from_arrays(X, {"kind": np.zeros(150, int)}, classes={"kind": "ab"})
    assert compare(model, same, HELD_OUT) == []


def test_out_of_fold_predictions_are_compared_with_those_of_their_linear_model(model: TrainedModel) -> None:
    truth = KIND[KIND >= 0][:60]
    rng = np.random.default_rng(1)
    ours, theirs = rng.dirichlet([1, 1], (2, 60))
    sizes = LABELS["size"][:60].astype(np.float32)
    folds = {
        "kind": OutOfFold("kind", np.arange(60), truth, ours, theirs, 5),
        "size": OutOfFold("size", np.arange(60), sizes, sizes[:, None] + 1, np.zeros((60, 1)), 5),
    }
    fitted = replace(model, out_of_fold=folds)
    kind, size = compare(fitted, SEEN, None)
    assert kind.of == size.of == "out-of-fold"
    np.testing.assert_array_equal(kind.model, ours.argmax(1) != truth)
    np.testing.assert_array_equal(kind.linear, theirs.argmax(1) != truth)
    np.testing.assert_array_equal(kind.constant, np.bincount(truth).argmax() != truth)
    np.testing.assert_allclose(size.model, 1, rtol=1e-5)
    np.testing.assert_allclose(size.linear, sizes**2, rtol=1e-5)
    np.testing.assert_allclose(size.constant, (sizes - sizes.mean()) ** 2, rtol=1e-4, atol=1e-6)
    assert [one.factor for one in compare_out_of_fold(fitted)] == ["kind", "size"]
    assert [one.of for one in compare(fitted, SEEN, HELD_OUT)] == ["held-out"] * 2
