"""Components of cells: log-normalized counts of the most variable genes, projected by a truncated SVD."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

VARIABLE, COMPONENTS = 5000, 50  # genes and components by default (docs/defaults.md)
_ROWS = 4096  # cells that are looked at together
_MOST_NUMBERS = 1 << 26  # of variable genes that are dense at a time; 256 MB
_SWEEPS, _MORE = 4, 10  # of the truncated SVD
_NOTHING = 1e-6  # share of the first component's variance below which a component is rounding error


class GeneComponents(nn.Module):
    """The projection of cells ``(B, G)`` on K components of their most variable genes, ``(B, K)``.

    Counts are scaled to a common total L, the median of a cell, and become y = log(1 + L x / total); other numbers are
    taken as logarithms already. The V genes with the largest variance of y have the singular vectors U ``(V, K)``, of
    cells drawn at random where there are more than 13,000 (with 5,000 genes). With the means c of the genes

        h = (y - c)_V U,    and components have the expected cell    y = c + h W,  back in counts of total L,

    where W ``(K, G)`` is the least-squares regression of *all* genes on the components. Sparse batches stay sparse.

    Parameters
    ----------
    genes : int
        G.
    variable : int
        V.
    size : int
        K.
    counts : bool
        Whether the numbers are counts.
    """

    def __init__(self, genes: int, variable: int, size: int, counts: bool) -> None:
        super().__init__()
        self.counts, self.variable = counts, variable
        self.register_buffer("library", torch.ones(()))
        self.register_buffer("center", torch.zeros(genes))
        self.register_buffer("vectors", torch.zeros(genes, size))  # 0 for genes that are not among the V
        self.register_buffer("loadings", torch.zeros(size, genes))
        self.library: Tensor
        self.center: Tensor
        self.vectors: Tensor
        self.loadings: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """Return the components ``(B, K)`` of cells, dense or sparse."""
        values = self._values(x)
        shift = self.center @ self.vectors
        return (torch.sparse.mm(values, self.vectors) if values.is_sparse else values @ self.vectors) - shift

    def of_all(self, x: Any) -> Tensor:
        """Return the components ``(N, K)`` of all cells of a data set."""
        return torch.cat([self(block) for block in _blocks(x)])

    def inverse(self, h: Tensor) -> Tensor:
        """Return the expected cells ``(B, G)`` at components; counts have the total L."""
        values = self.center + h @ self.loadings
        if not self.counts:
            return values
        rows = torch.expm1(values).clamp_min(0)
        return rows * (self.library / rows.sum(-1, keepdim=True).clamp_min(1e-30))

    @torch.no_grad()
    def learn(self, x: Any) -> None:
        """Learn everything from the cells of a data set."""
        if self.counts:
            totals = torch.cat([_totals(block) for block in _blocks(x)])
            self.library.copy_(totals[totals > 0].median() if bool((totals > 0).any()) else torch.ones(()))
        total, squares = torch.zeros_like(self.center).double(), torch.zeros_like(self.center).double()
        for block in _blocks(x):
            values = self._values(block).double()
            total += _sum(values)
            squares += _sum(values * values)
        mean = total / len(x)
        self.center.copy_(mean)
        chosen = (squares / len(x) - mean * mean).topk(min(self.variable, len(mean))).indices.sort().values
        self.vectors.zero_()
        self.vectors[chosen] = self._singular_vectors(x, chosen)
        self._regress(x)

    def _singular_vectors(self, x: Any, chosen: Tensor) -> Tensor:
        """Return the first K right singular vectors of some genes, by subspace iterations."""
        generator, size = torch.Generator().manual_seed(0), self.vectors.shape[1]
        rows, most = torch.arange(len(x)), _MOST_NUMBERS // len(chosen)
        if len(x) > most:
            rows = torch.randperm(len(x), generator=generator)[:most].sort().values
        values = torch.empty(len(rows), len(chosen), device=self.center.device)  # (N, V)
        for start in range(0, len(rows), _ROWS):
            block = self._values(_rows(x, rows[start : start + _ROWS].to(self.center.device)))
            block = block.index_select(1, chosen).to_dense() if block.is_sparse else block[:, chosen]
            values[start : start + _ROWS] = block - self.center[chosen]
        first_basis = torch.randn(len(chosen), min(size + _MORE, len(chosen)), generator=generator)
        basis = torch.linalg.qr(first_basis.to(values)).Q
        for _ in range(_SWEEPS):
            basis = torch.linalg.qr(values.T @ (values @ basis)).Q
        projected = values @ basis
        variances, turn = torch.linalg.eigh((projected.T @ projected).double())
        first = variances.argsort(descending=True)[:size]
        kept = variances[first] > _NOTHING * variances.max()
        made = values.new_zeros(len(chosen), size)
        made[:, : len(first)] = basis @ (turn[:, first] * kept).to(basis.dtype)
        return made

    def _regress(self, x: Any) -> None:
        """Fit the loadings of all genes: W = (HᵀH)⁻¹ Hᵀ (y - c)."""
        gram = torch.zeros(self.vectors.shape[1], self.vectors.shape[1], dtype=torch.float64).to(
            self.center.device
        )
        product, total = (
            torch.zeros_like(self.loadings).double(),
            torch.zeros_like(self.loadings[:, 0]).double(),
        )
        for block in _blocks(x):
            h, values = self(block).double(), self._values(block).double()
            gram += h.T @ h
            total += h.sum(0)
            product += torch.sparse.mm(values.T.coalesce(), h).T if values.is_sparse else h.T @ values
        product -= total[:, None] * self.center.double()
        self.loadings.copy_(torch.linalg.pinv(gram, hermitian=True) @ product)

    def _values(self, x: Tensor) -> Tensor:
        """Return log-normalized counts, sparse where they are; other numbers as they are."""
        if not self.counts:
            return x
        scale = self.library / torch.where(_totals(x) > 0, _totals(x), 1.0)
        if not x.is_sparse:
            return torch.log1p(x * scale[:, None])
        values = torch.log1p(x.values() * scale[x.indices()[0]])
        return torch.sparse_coo_tensor(
            x.indices(), values, x.shape, is_coalesced=True, check_invariants=False
        )


def _rows(x: Any, rows: Tensor) -> Tensor:
    made: Tensor = x.index_select(0, rows).float() if isinstance(x, Tensor) else x.floats(rows)
    return made


def _blocks(x: Any) -> Iterator[Tensor]:
    """Yield the cells of a tensor or of sparse counts, sparse where they are."""
    for rows in torch.arange(len(x), device=x.device).split(_ROWS):
        yield _rows(x, rows)


def _totals(x: Tensor) -> Tensor:
    if not x.is_sparse:
        return x.sum(1)
    return x.values().new_zeros(len(x)).index_add(0, x.indices()[0], x.values())


def _sum(x: Tensor) -> Tensor:
    """Return the sums of the columns ``(G,)``."""
    if not x.is_sparse:
        return x.sum(0)
    return x.values().new_zeros(x.shape[1]).index_add(0, x.indices()[1], x.values())
