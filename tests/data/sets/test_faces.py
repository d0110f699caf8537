"""Olivetti and Frey faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.data.found_files import found
from unknot.data.sets import faces


def test_olivetti_faces_have_an_identity(tmp_path: Path) -> None:
    identity = np.repeat(np.arange(40, dtype=np.uint8), 2)
    images = np.full((80, 64, 64), 7, np.uint8)
    np.savez(tmp_path / "olivetti_64x64.npz", images=images, identity=identity)
    dataset = faces.build_olivetti(found(faces.OLIVETTI, "arrays", tmp_path))
    assert dataset.x.shape == (80, 1, 64, 64)
    assert dataset.factor("identity").values.tolist() == identity.tolist()
    assert dataset.factor("identity").classes[0] == "person 1"


def test_frey_faces_have_no_factors(tmp_path: Path) -> None:
    np.savez(tmp_path / "frey_28x20.npz", images=np.full((5, 28, 20), 7, np.uint8))
    dataset = faces.build_frey(found(faces.FREY, "arrays", tmp_path))
    assert dataset.x.shape == (5, 1, 28, 20)
    assert not dataset.factors
