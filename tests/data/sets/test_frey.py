"""Frey faces: frames without factors."""

from pathlib import Path

import numpy as np

from tests.data.found_files import found
from unknot.data.sets import frey


def test_the_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "frey_28x20.npz", images=np.full((5, 28, 20), 7, np.uint8))
    dataset = frey.build(found(frey.ENTRY, "arrays", tmp_path))
    assert dataset.x.shape == (5, 1, 28, 20)
    assert not dataset.factors
