"""Olivetti faces: images with the person as a factor."""

from pathlib import Path

import numpy as np

from tests.data.found_files import found
from unknot.data.sets import olivetti


def test_the_arrays(tmp_path: Path) -> None:
    identity = np.repeat(np.arange(40, dtype=np.uint8), 2)
    images = np.full((80, 64, 64), 7, np.uint8)
    np.savez(tmp_path / "olivetti_64x64.npz", images=images, identity=identity)
    dataset = olivetti.build(found(olivetti.ENTRY, "arrays", tmp_path))
    assert dataset.x.shape == (80, 1, 64, 64)
    assert dataset.factor("identity").values.tolist() == identity.tolist()
    assert dataset.factor("identity").classes[0] == "person 1"
