"""Sparse counts: every way of taking documents gives what the dense array gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError


def dense_counts(documents: int, words: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (documents, words)) * (rng.random((documents, words)) < 0.3)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 1000))
def test_documents_are_those_of_the_dense_array(documents: int, words: int, seed: int) -> None:
    dense = dense_counts(documents, words, seed)
    counts = SparseCounts.from_scipy(sparse.coo_matrix(dense))
    rows = torch.from_numpy(np.random.default_rng(seed).integers(0, documents, 4))  # some of them twice
    batch = counts.floats(rows)
    assert batch.is_coalesced()
    assert batch.dtype == torch.float32
    np.testing.assert_array_equal(batch.to_dense().numpy(), dense[rows.numpy()])
    torch.sparse_coo_tensor(
        batch.indices(), batch.values(), batch.shape, check_invariants=True
    )  # torch's own look
    np.testing.assert_array_equal(counts.select(rows)[:].numpy(), dense[rows.numpy()])
    np.testing.assert_array_equal(counts[0].numpy(), dense[0])
    np.testing.assert_array_equal(counts[:].numpy(), dense)
    np.testing.assert_array_equal(counts.to_scipy().toarray(), dense)


def test_it_is_the_x_of_a_data_set() -> None:
    dense = dense_counts(8, 5, 0)
    one = Dataset("sparse", SparseCounts.from_scipy(sparse.csr_matrix(dense)), torch.arange(8))
    other = Dataset("dense", torch.from_numpy(dense), torch.arange(8))
    assert one.item_shape == other.item_shape
    for a, b in zip(one.batches(3, seed=1), other.batches(3, seed=1), strict=True):
        torch.testing.assert_close(a.x.to_dense(), b.x)
    kept = one.subset([5, 2])
    np.testing.assert_array_equal(kept.x[:].numpy(), dense[[5, 2]])
    assert one.fingerprint() == one.to("cpu").fingerprint() != one.subset(range(7)).fingerprint()


def test_memory_follows_the_words_present() -> None:
    matrix = sparse.random(1000, 50_000, 1e-3, format="csr", random_state=0)
    counts = SparseCounts.from_scipy(matrix)
    assert counts.nbytes < 9 * matrix.nnz + 10_000
    assert counts.floats(torch.arange(10)).values().numel() == matrix[:10].nnz


def test_weights_stay_real_and_duplicates_are_added() -> None:
    twice = sparse.csr_matrix((np.array([0.5, 0.25]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert SparseCounts.from_scipy(twice)[:].tolist() == [[0.0, 0.75, 0.0]]


def test_what_are_no_counts_is_refused() -> None:
    with pytest.raises(DataError, match=r"less than 2\^31, but the sparse matrix holds 1000000000000"):
        SparseCounts.from_scipy(sparse.csr_matrix([[10**12]]))
    with pytest.raises(DataError, match="holds -2"):
        SparseCounts.from_scipy(sparse.csr_matrix([[1, -2]]))
    with pytest.raises(DataError, match="not counts of 2 words by rows"):
        SparseCounts(torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([1]), 2)
    with pytest.raises(DataError, match="not counts of 2 words by rows"):
        SparseCounts(torch.tensor([0, 2]), torch.tensor([1]), torch.tensor([1]), 2)
