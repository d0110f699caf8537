"""Totals and shares of cells, beside dense arithmetic; genes of new cells."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from unknot.data.cell_dataset import CellDataset, GeneMap, totals
from unknot.data.sparse_counts import SparseCounts


def cells(rows: np.ndarray) -> CellDataset:
    x = SparseCounts.from_scipy(sparse.csr_matrix(rows))
    return CellDataset("cells", x, torch.arange(len(rows)), columns=("a", "b", "c"))


def test_totals_and_shares() -> None:
    rows = np.array([[1, 0, 3], [0, 0, 0], [2, 2, 0]])
    data = cells(rows)
    assert totals(data.x).tolist() == [4, 0, 4]  # type: ignore[arg-type]
    assert np.allclose(data.with_shares().shares, [0.375, 0.25, 0.375])


def test_a_missing_gene_gets_its_expected_count() -> None:
    known = cells(np.array([[1, 1, 2]])).with_shares()
    order = GeneMap(["c", "new", "a", "b"], known, "query")
    rows = sparse.csr_matrix(np.array([[5, 9, 1, 2]]))
    assert order(rows).toarray().tolist() == [[1, 2, 5]]
