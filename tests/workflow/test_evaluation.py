"""Scores of an encoder against counting by hand, and predictions in users' own names."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.workflow.evaluation import predict_dataset, scores
from unknot.workflow.trained_model import TrainedModel

NODES = [
    node("kind", "concrete", 3, inferred_from=["x"], labels=True),
    node("light", "direction", 3, inferred_from=["x"], labels=True),
    node("size", "normal", 1, inferred_from=["x", "kind"], labels=True),
    node("odd", "bernoulli", 1, inferred_from=["x"], labels=True),
    node("x", "normal", parents=["kind", "light", "size", "odd"]),
]
RNG = np.random.default_rng(0)
COUNT = 1200  # more than one chunk


@pytest.fixture(scope="module")
def data():
    light = RNG.normal(size=(COUNT, 3))
    labels = {
        "kind": [("a", "b", "c")[k] if k < 3 else None for k in RNG.integers(0, 4, COUNT)],
        "light": light / np.linalg.norm(light, axis=1, keepdims=True),
        "size": np.where(RNG.random(COUNT) < 0.5, np.nan, RNG.normal(size=COUNT)),
        "odd": RNG.random(COUNT) < 0.5,
    }
    return from_arrays(RNG.normal(size=(COUNT, 5)), labels)


@pytest.fixture(scope="module")
def model(data) -> TrainedModel:
    torch.manual_seed(0)
    return like(NODES, data)


def test_scores_are_what_counting_gives(model, data) -> None:
    answers = predict_dataset(model, data)
    whole = model.predict(data.batch(range(COUNT)).x).predictions
    for name, summary in answers.predictions.items():
        np.testing.assert_allclose(summary, whole[name], rtol=1e-4, atol=1e-5)
    found = {score.factor: score for score in scores(model, data, answers)}
    kind, known = data.factors["kind"].values.numpy(), data.factors["kind"].known.numpy()
    wrong = (answers.predictions["kind"].argmax(-1) != kind)[known]
    assert found["kind"].value == pytest.approx(wrong.mean())
    assert found["kind"].items == known.sum()
    assert found["light"].measure == "mean angle (degrees)"
    assert found["size"].items == int(data.factors["size"].known.sum())
    odd = data.factors["odd"].values.numpy()
    assert found["odd"].value == pytest.approx(((answers.predictions["odd"][:, 0] > 0.5) != odd).mean())


def test_factors_without_labels_have_no_score(model, data) -> None:
    bare = from_arrays(data.x, {"kind": np.full(COUNT, -1)}, classes={"kind": "abc"})
    assert scores(model, bare, predict_dataset(model, bare)) == []
