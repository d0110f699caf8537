"""MNIST from small files of its two forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.data.found_files import found
from tests.data.sets.idx_files import write_set
from unknot.data.sets import mnist


@pytest.mark.parametrize(("form", "suffix"), [("idx, gzip", ".gz"), ("idx", "")])
def test_both_forms_give_the_same_data_set(tmp_path: Path, form: str, suffix: str) -> None:
    arrays = write_set(tmp_path, suffix)
    dataset = mnist.build(found(mnist.ENTRY, form, tmp_path))
    assert dataset.x.shape == (10, 1, 28, 28)
    train, test = dataset.split("train"), dataset.split("test")
    np.testing.assert_array_equal(train.x[:, 0].numpy(), arrays["train-images-idx3-ubyte"])
    np.testing.assert_array_equal(test.factor("digit").values.numpy(), arrays["t10k-labels-idx1-ubyte"])
    assert test.ids.tolist() == [7, 8, 9]
    assert dataset.factor("digit").classes == tuple("0123456789")
