"""Readers: of rows and of images, for classes and numbers; they learn from labels and from nothing else."""

from __future__ import annotations

import numpy as np
import torch

from tests.workflow.counterfactuals.exact import exact_data
from unknot.data.from_arrays import from_arrays
from unknot.workflow.counterfactuals.reader import ForestReader, NetworkReader, make_reader


def test_rows_are_read_by_forests_also_with_gaps() -> None:
    data, new = exact_data(400, labeled=0.8), exact_data(100, seed=1)
    rows = new.batch(range(100)).x
    reader = make_reader(data, ["kind", "size"])
    assert isinstance(reader, ForestReader)
    said = reader.read(rows)
    assert (said["kind"] == new.factors["kind"].values.numpy()).mean() > 0.97
    assert said["size"].shape == (100, 1)
    assert np.corrcoef(said["size"][:, 0], new.factors["size"].values.numpy())[0, 1] > 0.95
    rows[:, 5] = float("nan")
    assert (reader.read(rows)["kind"] == new.factors["kind"].values.numpy()).mean() > 0.95


def test_images_are_read_by_a_network() -> None:
    rng = np.random.default_rng(0)
    left = rng.random(200) < 0.5
    images = 0.2 * rng.random((200, 1, 8, 8))
    images[left, :, :, :4] += 0.7
    images[~left, :, :, 4:] += 0.7
    data = from_arrays(images, {"side": np.where(left, "left", "right")})
    reader = make_reader(data.subset(range(150)), ["side"])
    assert isinstance(reader, NetworkReader)
    said = reader.read(data.subset(range(150, 200)).batch(range(50)).x)["side"]
    assert torch.equal(torch.from_numpy(said), data.factors["side"].values[150:])
