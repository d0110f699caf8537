"""Fashion-MNIST from small files: MNIST's format, with garments."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.data.found_files import found
from tests.data.sets.idx_files import write_set
from unknot.data.sets import fashion_mnist


def test_fashion_has_its_own_factor(tmp_path: Path) -> None:
    arrays = write_set(tmp_path, ".gz")
    dataset = fashion_mnist.build(found(fashion_mnist.ENTRY, "idx, gzip", tmp_path))
    assert dataset.factor("garment").classes == fashion_mnist.CLASSES
    garments = dataset.split("train").factor("garment").values.numpy()
    np.testing.assert_array_equal(garments, arrays["train-labels-idx1-ubyte"])
