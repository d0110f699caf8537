"""The bag of words from its CSR parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.data.found_files import found
from unknot.data.sets import newsgroups
from unknot.errors import DataError

TRAIN = np.array([[0, 2, 0, 1], [0, 0, 0, 3], [0, 0, 0, 0]])
TEST = np.array([[0, 1, 4, 0]])


def csr(counts: np.ndarray) -> dict[str, np.ndarray]:
    rows, columns = counts.nonzero()
    return {
        "data": counts[rows, columns].astype(np.uint16),
        "indices": columns.astype(np.uint16),
        "indptr": np.searchsorted(rows, np.arange(len(counts) + 1)).astype(np.int32),
    }


def write_small(folder: Path, **changes: np.ndarray) -> None:
    arrays = {f"train_{key}": value for key, value in csr(TRAIN).items()}
    arrays |= {f"test_{key}": value for key, value in csr(TEST).items()}
    arrays |= {
        "shape_train": np.array(TRAIN.shape),
        "shape_test": np.array(TEST.shape),
        "train_labels": np.array([0, 1, 1], dtype=np.uint8),
        "test_labels": np.array([1], dtype=np.uint8),
        "train_doc_id": np.array([500, 500, 7], dtype=np.int32),
        "test_doc_id": np.array([900], dtype=np.int32),
        "vocab": np.array(["_eos_", "car", "moon", "god"]),
        "groups": np.array(["rec.autos", "sci.space"]),
    }
    np.savez(folder / "20news_prodlda_bow.npz", **arrays | changes)


def test_counts_groups_words_and_ids(tmp_path: Path) -> None:
    write_small(tmp_path)
    dataset = newsgroups.build(found(newsgroups.ENTRY, "counts", tmp_path))
    np.testing.assert_array_equal(dataset.split("train").x[:].numpy(), TRAIN)
    np.testing.assert_array_equal(dataset.split("test").x[:].numpy(), TEST)
    assert dataset.columns == ("_eos_", "car", "moon", "god")
    assert dataset.factor("group").values.tolist() == [0, 1, 1, 1]
    assert dataset.ids.tolist() == [500, 1_000_500, 1_000_007, 1_000_900]  # group and file name
    assert dataset.batch([0]).x.to_dense().tolist() == [[0.0, 2.0, 0.0, 1.0]]


def test_a_wrong_layout_is_refused(tmp_path: Path) -> None:
    write_small(tmp_path, train_indptr=np.array([0, 1], dtype=np.int32))
    with pytest.raises(DataError, match="the train counts are not a CSR matrix of 3 x 4"):
        newsgroups.build(found(newsgroups.ENTRY, "counts", tmp_path))


def test_pickled_arrays_are_refused(tmp_path: Path) -> None:
    write_small(tmp_path, vocab=np.array(["a", None], dtype=object))
    with pytest.raises(DataError, match=r"20news_prodlda_bow\.npz cannot be read.*Python objects"):
        newsgroups.build(found(newsgroups.ENTRY, "counts", tmp_path))
