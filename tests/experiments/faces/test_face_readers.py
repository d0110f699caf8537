"""Independent readers: right on faces that they can know, and angles as geometry has them."""

from __future__ import annotations

import numpy as np

from experiments.faces.face_baselines import FaceClassifier, degrees_between
from experiments.faces.faces import toy_faces
from experiments.faces.faces_counterfactuals import photographs


def test_toy_faces_are_read() -> None:
    data = toy_faces(people=12, lights=30, seed=0)
    reader, test = FaceClassifier(photographs(data.split("train"))), photographs(data.split("test"))
    assert np.mean(reader.person(test.x) != test.person) < 0.1
    assert degrees_between(reader.light(test.x), test.light).mean() < 15
    length = np.linalg.norm(reader.light(test.x), axis=1)  # 1, or 0 for an image too dark to be like any
    assert np.mean(np.isclose(length, 1)) > 0.95
    assert (length < 1 + 1e-5).all()


def test_angles() -> None:
    axes = np.eye(3)
    np.testing.assert_allclose(degrees_between(axes, axes[[1, 0, 2]]), [90, 90, 0], atol=1e-9)
