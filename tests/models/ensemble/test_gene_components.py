"""Components of cells: beside scikit-learn's SVD, sparse and dense alike, and back to expected counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from tests.cells import small_cells
from unknot.data.sparse_counts import SparseCounts
from unknot.models.ensemble.gene_components import GeneComponents


def counts(cells: int = 90, genes: int = 20) -> np.ndarray:
    return small_cells(cells, genes).X.toarray()


def log_normalized(rows: np.ndarray) -> np.ndarray:
    total = rows.sum(1, keepdims=True)
    median = np.sort(total[:, 0])[(len(rows) - 1) // 2]
    return np.log1p(rows * median / total)


def learned(rows: np.ndarray, variable: int, size: int) -> GeneComponents:
    made = GeneComponents(rows.shape[1], variable, size, True)
    made.learn(SparseCounts.from_scipy(sparse.csr_matrix(rows)))
    return made


@pytest.mark.parametrize("variable", [8, 20])
def test_components_span_those_of_an_exact_svd(variable: int) -> None:
    rows = counts()
    made = learned(rows, variable, 2)
    values = log_normalized(rows)
    values = values - values.mean(0)
    chosen = np.sort(np.argsort(-values.var(0))[:variable])
    exact = np.linalg.svd(values[:, chosen], full_matrices=False)[2][:2].T
    vectors = made.vectors.numpy()
    assert np.array_equal(np.nonzero(np.abs(vectors).sum(1))[0], chosen)
    cosines = np.linalg.svd(exact.T @ vectors[chosen], compute_uv=False)
    assert cosines.min() > 0.999
    h = made(torch.from_numpy(rows))
    assert np.allclose(h.numpy(), values[:, chosen] @ vectors[chosen], atol=1e-4)
    assert torch.allclose(made(torch.from_numpy(rows).to_sparse().coalesce()), h, atol=1e-4)
    by_least_squares = np.linalg.lstsq(h.numpy(), values, rcond=None)[0]
    assert np.allclose(made.loadings.numpy(), by_least_squares, atol=1e-3)


def test_expected_cells_have_the_common_total_and_the_types_genes() -> None:
    rows = counts()
    made = learned(rows, 20, 2)
    expected = made.inverse(made(torch.from_numpy(rows))).numpy()
    assert np.allclose(expected.sum(1), float(made.library), rtol=1e-4)
    own = expected[:, :18].reshape(90, 6, 3)[np.arange(90), :, np.arange(90) % 3].mean()
    assert own > 2 * expected.mean() / 2
    assert own > 1.5 * expected[:, :18].mean()


def test_as_many_components_as_there_is_variance() -> None:
    made = learned(np.array([[1.0, 3.0], [3.0, 1.0], [1.0, 3.0]]), 2, 2)
    assert made(torch.tensor([[1.0, 3.0]])).isfinite().all()
    assert made.vectors[:, 1].abs().sum() == 0
