"""Scores of a recogniser against counting by hand, and predictions in users' own names."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.models import GraphicalModel, node
from unknot.workflow.evaluation import class_probabilities, recognise, scores
from unknot.workflow.prediction_table import prediction_table

NODES = [
    node("kind", "concrete", 3, recognised_from=["x"], labels=True),
    node("light", "direction", 3, recognised_from=["x"], labels=True),
    node("size", "normal", 1, recognised_from=["x", "kind"], labels=True),
    node("odd", "bernoulli", 1, recognised_from=["x"], labels=True),
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
def model() -> GraphicalModel:
    torch.manual_seed(0)
    return GraphicalModel(NODES, (5,)).eval()


def test_scores_are_what_counting_gives(model, data) -> None:
    answers = recognise(model, data)
    with torch.no_grad():
        whole = model.recognise(data.batch(range(COUNT)).x).summaries
    for name, summary in answers.summaries.items():
        np.testing.assert_allclose(summary, whole[name], rtol=1e-4, atol=1e-5)
    found = {score.factor: score for score in scores(model, data, answers)}
    kind, known = data.factors["kind"].values.numpy(), data.factors["kind"].known.numpy()
    wrong = (answers.summaries["kind"].argmax(-1) != kind)[known]
    assert found["kind"].value == pytest.approx(wrong.mean())
    assert found["kind"].items == known.sum()
    assert found["light"].measure == "mean angle (degrees)"
    assert found["size"].items == int(data.factors["size"].known.sum())
    odd = data.factors["odd"].values.numpy()
    assert found["odd"].value == pytest.approx(((answers.summaries["odd"][:, 0] > 0.5) != odd).mean())


def test_factors_without_labels_have_no_score(model, data) -> None:
    bare = from_arrays(data.x, {"kind": np.full(COUNT, -1)}, classes={"kind": "abc"})
    assert scores(model, bare, recognise(model, bare)) == []


def test_probabilities_of_yes_and_no() -> None:
    np.testing.assert_allclose(class_probabilities(np.array([[0.25], [1.0]])), [[0.75, 0.25], [0, 1]])
    same = np.array([[0.2, 0.8]])
    assert class_probabilities(same) is same


def test_a_table_has_names_probabilities_and_numbers(model, data) -> None:
    header, rows = prediction_table(model, data, recognise(model, data), {"row": range(COUNT)})
    assert header == [
        "row", "kind", "kind probability", "light[0]", "light[1]", "light[2]", "size", "odd", "odd probability",
    ]  # fmt: skip
    assert len(rows) == COUNT
    assert rows[7][0] == "7"
    assert {row[1] for row in rows} <= {"a", "b", "c"}
    assert {row[7] for row in rows} <= {"0", "1"}
    assert all(1 / 3 <= float(row[2]) <= 1 and 0.5 <= float(row[8]) <= 1 for row in rows)
