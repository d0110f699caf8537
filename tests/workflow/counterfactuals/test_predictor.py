"""Readers: of rows and of images, for classes and numbers; they learn from labels and from nothing else."""

from __future__ import annotations

import numpy as np
import torch

from tests.workflow.counterfactuals.exact import exact_data
from unknot.data.from_arrays import from_arrays
from unknot.workflow.counterfactuals.predictor import (
    MOST_CHANGED,
    MOST_LEARNED,
    ForestPredictor,
    NetworkPredictor,
    make_predictor,
    split,
)


def test_rows_are_read_by_forests_also_with_gaps() -> None:
    data, new = exact_data(400, labeled=0.8), exact_data(100, seed=1)
    rows = new.batch(range(100)).x
    predictor = make_predictor(data, ["kind", "size"])
    assert isinstance(predictor, ForestPredictor)
    said = predictor.predict(rows)
    assert (said["kind"] == new.factors["kind"].values.numpy()).mean() > 0.97
    assert said["size"].shape == (100, 1)
    assert np.corrcoef(said["size"][:, 0], new.factors["size"].values.numpy())[0, 1] > 0.95
    rows[:, 5] = float("nan")
    assert (predictor.predict(rows)["kind"] == new.factors["kind"].values.numpy()).mean() > 0.95


def test_images_are_read_by_a_network() -> None:
    rng = np.random.default_rng(0)
    left = rng.random(200) < 0.5
    images = 0.2 * rng.random((200, 1, 8, 8))
    images[left, :, :, :4] += 0.7
    images[~left, :, :, 4:] += 0.7
    data = from_arrays(images, {"side": np.where(left, "left", "right")})
    predictor = make_predictor(data.subset(range(150)), ["side"])
    assert isinstance(predictor, NetworkPredictor)
    said = predictor.predict(data.subset(range(150, 200)).batch(range(50)).x)["side"]
    assert torch.equal(torch.from_numpy(said), data.factors["side"].values[150:])


# ---- Who is judged and who teaches: never the same item, and half of the labels at most are judged -------


def rows(data) -> set[tuple[float, ...]]:
    return {tuple(row) for row in torch.as_tensor(data.x).tolist()}


def test_half_of_the_labels_alone() -> None:
    data = exact_data(101)
    parts = split(data)
    assert (len(parts.changed), len(parts.learning)) == (50, 51)
    assert not rows(parts.changed) & rows(parts.learning)
    assert rows(parts.changed) | rows(parts.learning) == rows(data)


def test_training_labels_spare_the_test_items() -> None:
    test, train = exact_data(40, seed=1), exact_data(200, labeled=0.5)
    parts = split(test, train)
    assert len(parts.changed) == 40
    assert rows(parts.learning) <= rows(train)
    assert bool(parts.learning.factors["kind"].known.all())
    known = {tuple(r) for r in train.x[train.factors["kind"].known].tolist()}
    assert rows(parts.learning) == known


def test_labels_stay_with_their_items() -> None:
    parts = split(exact_data(60, seed=1), exact_data(50))
    for data in (parts.changed, parts.learning):
        kind = data.factors["kind"].values
        assert torch.equal(torch.as_tensor(data.x)[:, :3].argmax(-1)[kind >= 0], kind[kind >= 0])


def test_data_without_labels_and_large_data() -> None:
    bare = split(exact_data(30, labeled=0.0))
    assert (len(bare.changed), len(bare.learning)) == (30, 0)
    large = split(exact_data(9000))
    assert (len(large.changed), len(large.learning)) == (MOST_CHANGED, MOST_LEARNED)
    assert rows(split(exact_data(101), seed=1).changed) != rows(split(exact_data(101), seed=0).changed)
