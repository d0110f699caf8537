"""Components of wide rows: log-normalized counts or standardized numbers, projected by a truncated SVD."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

_BLOCK = 1 << 24  # numbers that are dense at a time; 64 MB
_FAR = 8.0  # standard deviations at which numbers are clipped, as in the standardized view of a table
_IN_MEMORY = 1 << 26  # numbers that stay dense through all sweeps, at most; 256 MB
_SWEEPS, _MORE = 10, 10  # subspace iterations, and directions beyond those that are kept
_NOTHING = 1e-6  # share of the first component's variance below which a component is rounding error


def blocks(x: Any) -> Iterator[Tensor]:
    """Yield the rows of a tensor, or of sparse counts, as dense float32 blocks."""
    step = max(1, _BLOCK // max(1, x.shape[1:].numel()))
    for start in range(0, len(x), step):
        yield x[start : start + step].float()


def are_counts(x: Any) -> bool:
    """Return whether all numbers are whole and at least 0, whatever their type.

    >>> are_counts(torch.tensor([[0.0, 2.0]])), are_counts(torch.tensor([[0.5, 2.0]]))
    (True, False)
    """
    return all(bool(((rows >= 0) & (rows == rows.round())).all()) for rows in blocks(x))


class Components(nn.Module):
    """The projection of rows ``(B, C)`` on the first K right singular vectors of all rows, ``(B, K)``.

    Counts are scaled to a common library size L, the median total of a row, and x becomes log(1 + L x / total). Other
    numbers are standardized, clipped to ±8, and missing values (NaN) are replaced by their column's mean. With the
    column means c, the scales s (1 for counts) and the singular vectors V ``(C, K)`` a row has the components

        h = ((x - c) / s) V,    and components have the expected row    c + s (h Vᵀ),  back in the units of x.

    Sparse rows are made dense block by block, so dense and sparse rows have the same components.

    Parameters
    ----------
    columns : int
        C.
    size : int
        K.
    counts : bool
        Whether rows are counts.
    """

    def __init__(self, columns: int, size: int, counts: bool) -> None:
        super().__init__()
        self.counts = counts
        self.register_buffer("library", torch.ones(()))
        self.register_buffer("center", torch.zeros(columns))
        self.register_buffer("scale", torch.ones(columns))
        self.register_buffer("vectors", torch.zeros(columns, size))
        self.library: Tensor
        self.center: Tensor
        self.scale: Tensor
        self.vectors: Tensor

    def forward(self, rows: Tensor) -> Tensor:
        """Return the components ``(B, K)`` of rows ``(B, C)``, dense or sparse."""
        return self._standard(rows.to_dense() if rows.is_sparse else rows) @ self.vectors

    def of_all(self, x: Any) -> Tensor:
        """Return the components ``(N, K)`` of all rows of a data set."""
        return torch.cat([self(rows) for rows in blocks(x)])

    def inverse(self, components: Tensor) -> Tensor:
        """Return the expected rows ``(B, C)`` at components ``(B, K)``; counts are those of a row of total L."""
        rows = components @ self.vectors.T * self.scale + self.center
        return torch.expm1(rows).clamp_min(0) if self.counts else rows

    @torch.no_grad()
    def learn(self, x: Any) -> None:
        """Take library size, column means, scales and singular vectors from all rows ``(N, C)``."""
        if self.counts:
            totals = torch.cat([rows.sum(1) for rows in blocks(x)])
            present = totals[totals > 0]
            self.library.copy_(present.median() if len(present) else torch.ones(()))
        self.center.zero_()
        self.scale.fill_(1.0)
        self.center.copy_(self._mean(x, lambda values: values))
        if not self.counts:
            spread = self._mean(x, lambda values: (values - self.center).square()).sqrt()
            self.scale.copy_(torch.where(spread > 1e-9, spread, 1.0))
        self.vectors.copy_(self._singular_vectors(x))

    def _mean(self, x: Any, of: Any) -> Tensor:
        """Return the mean of a function of each column's values, without missing ones, ``(C,)``."""
        total = torch.zeros_like(self.center, dtype=torch.float64)
        known = torch.zeros_like(total)
        for rows in blocks(x):
            seen = ~rows.isnan()
            total += torch.where(seen, of(self._values(rows)).double(), 0.0).sum(0)
            known += seen.sum(0)
        return total / known.clamp_min(1)

    def _singular_vectors(self, x: Any) -> Tensor:
        """Return the first K right singular vectors of the standardized rows, zero beyond their rank."""
        basis, gram = self._subspace(x, self.vectors.shape[1] + _MORE)
        variances, turn = torch.linalg.eigh(gram)  # in increasing order
        first = variances.argsort(descending=True)[: self.vectors.shape[1]]
        kept = variances[first] > _NOTHING * variances.max()
        return basis @ (turn[:, first] * kept).to(basis.dtype)

    def _subspace(self, x: Any, size: int) -> tuple[Tensor, Tensor]:
        """Return a basis ``(C, size)`` of the first singular vectors, and the Gram matrix of the rows in it."""
        columns, device = len(self.center), self.center.device
        generator = torch.Generator().manual_seed(0)
        basis = torch.linalg.qr(torch.randn(columns, min(size, columns), generator=generator).to(device)).Q
        values_of = self._passes(x)
        for sweep in range(_SWEEPS + 1):
            gram = torch.zeros(basis.shape[1], basis.shape[1], dtype=torch.float64, device=device)
            product = torch.zeros_like(basis)
            for values in values_of():
                projected = values @ basis
                product += values.T @ projected
                gram += projected.T.double() @ projected.double()
            if sweep < _SWEEPS:
                basis = torch.linalg.qr(product).Q
        return basis, gram

    def _passes(self, x: Any) -> Callable[[], Iterable[Tensor]]:
        """Return a function that yields the standardized rows in blocks, which are kept if they are few."""

        def computed() -> Iterator[Tensor]:
            for rows in blocks(x):
                yield self._standard(rows)

        if len(x) * len(self.center) > _IN_MEMORY:
            return computed
        kept = list(computed())
        return lambda: kept

    def _standard(self, rows: Tensor) -> Tensor:
        values = (self._values(rows) - self.center) / self.scale
        return values if self.counts else values.nan_to_num().clamp(-_FAR, _FAR)

    def _values(self, rows: Tensor) -> Tensor:
        """Return log-normalized counts; other numbers as they are."""
        if not self.counts:
            return rows
        total = rows.sum(1, keepdim=True)
        return torch.log1p(rows * (self.library / torch.where(total > 0, total, 1.0)))
