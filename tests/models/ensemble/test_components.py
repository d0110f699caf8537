"""Components of wide rows: counts by value, and the SVD against numpy's on the same transformed rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from unknot.data.sparse_counts import SparseCounts
from unknot.models.ensemble.components import Components, are_counts

RATES = np.random.default_rng(1).gamma(0.3, 20.0, (6, 90))  # six groups: five components stand out
COUNTS = np.random.default_rng(0).poisson(RATES[np.arange(40) % 6]).clip(max=100)
COUNTS[3] = 0  # an empty row


def _slow(counts: np.ndarray, size: int) -> np.ndarray:
    """The rows nearest to the log-normalized counts among those of the rank, row by row and by numpy's full SVD."""
    totals = counts.sum(1)
    library = np.sort(totals[totals > 0])[
        (np.count_nonzero(totals) - 1) // 2
    ]  # torch's median is the lower one
    logs = np.array([np.log1p(row * library / max(row.sum(), 1)) for row in counts])
    left, values, right = np.linalg.svd(logs - logs.mean(0), full_matrices=False)
    return np.asarray(left[:, :size] * values[:size] @ right[:size] + logs.mean(0))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int64, torch.float32, torch.float64])
def test_counts_are_recognized_by_value(dtype: torch.dtype) -> None:
    assert are_counts(torch.from_numpy(COUNTS).to(dtype))


def test_other_numbers_are_no_counts() -> None:
    rows = torch.from_numpy(COUNTS).float()
    for wrong in (0.5, -1.0, torch.nan):
        changed = rows.clone()
        changed[20, 30] = wrong
        assert not are_counts(changed)


def test_components_of_counts_are_those_of_the_full_svd() -> None:
    made = Components(90, 5, counts=True)
    made.learn(torch.from_numpy(COUNTS))
    rows = made.inverse(made(torch.from_numpy(COUNTS).float())).log1p()
    np.testing.assert_allclose(rows, np.maximum(_slow(COUNTS, 5), 0), atol=2e-3)


def test_components_of_numbers_are_those_of_the_full_svd() -> None:
    x = np.random.default_rng(2).normal(5, 3, (40, 30)) @ np.random.default_rng(3).normal(size=(30, 90))
    made = Components(90, 5, counts=False)
    made.learn(torch.from_numpy(x))
    standard = (x - x.mean(0)) / x.std(0)
    left, values, right = np.linalg.svd(standard, full_matrices=False)
    expected = (left[:, :5] * values[:5] @ right[:5]) * x.std(0) + x.mean(0)
    found = made.inverse(made(torch.from_numpy(x).float()))
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(x).max())


def test_dense_and_sparse_counts_have_the_same_components() -> None:
    dense, thin = Components(90, 5, counts=True), Components(90, 5, counts=True)
    dense.learn(torch.from_numpy(COUNTS))
    counts = SparseCounts.from_scipy(sparse.csr_matrix(COUNTS))
    thin.learn(counts)
    batch = counts.floats(torch.arange(40))
    assert batch.is_sparse
    assert torch.equal(dense(torch.from_numpy(COUNTS).float()), thin(batch))


def test_the_depth_of_a_row_does_not_change_its_components() -> None:
    made = Components(90, 5, counts=True)
    made.learn(torch.from_numpy(COUNTS))
    rows = torch.from_numpy(COUNTS).float()
    torch.testing.assert_close(made(rows), made(7 * rows), atol=1e-4, rtol=1e-4)


def test_missing_numbers_count_as_the_mean_of_their_column() -> None:
    x = torch.randn(40, 90, generator=torch.Generator().manual_seed(0))
    x[3, 4] = torch.nan
    made = Components(90, 5, counts=False)
    made.learn(x)
    filled = x.clone()
    filled[3, 4] = x[:, 4].nanmean()
    torch.testing.assert_close(made(x), made(filled), atol=1e-5, rtol=1e-5)


def test_components_beyond_the_rank_are_zero() -> None:
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0)) @ torch.ones(2, 90)
    made = Components(90, 5, counts=False)
    made.learn(x)
    assert bool((made(x)[:, 1:] == 0).all())
    assert bool((made(x)[:, 0] != 0).all())
