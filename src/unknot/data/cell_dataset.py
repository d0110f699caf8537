"""CellDataset: cells as counts of genes, and what new cells need to become rows of the same genes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset, training_rows
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError, UnknotWarning

_LISTED = 5  # names in a message
_NOTHING = 1e-6  # expected share of a cell's counts below which a missing gene stays 0


@dataclass(frozen=True, repr=False)
class CellDataset(Dataset):
    """A Dataset of cells, whose columns are genes.

    Parameters
    ----------
    name, x, ids, factors, splits, licence, columns, table, odd_rows, resized_from, given
        As for :class:`Dataset`; ``x`` is :class:`SparseCounts`, ``columns`` are the genes, ``table`` is empty.
    cells : tuple of str
        The name of each cell; empty if they have none.
    layer : str
        The layer of AnnData from which the counts were read; "" is ``X``.
    unlabeled : tuple of str
        Labels that stand for an unknown one.
    shares : tuple of float
        The share of each gene in the counts of a training cell, averaged over cells. They replace missing genes.
    missing : tuple of str
        Of new cells, genes of the training data that they lack.
    are_counts : bool
        Whether all numbers that were read are whole.
    """

    cells: tuple[str, ...] = ()
    layer: str = ""
    unlabeled: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    missing: tuple[str, ...] = ()
    are_counts: bool = True

    def subset(self, rows: Tensor | Sequence[int]) -> CellDataset:
        chosen = super().subset(rows)
        positions = torch.arange(len(self))[torch.as_tensor(rows).cpu()].tolist()
        assert isinstance(chosen, CellDataset)
        return replace(chosen, cells=tuple(self.cells[row] for row in positions) if self.cells else ())

    def with_shares(self) -> CellDataset:
        """Return the cells with the shares of the genes in those that are not kept for the test."""
        assert isinstance(self.x, SparseCounts)
        chosen = torch.from_numpy(training_rows(self.splits, len(self)))
        total, sizes = totals(self.x), self.x.offsets.diff()
        per_count = torch.where(chosen & (total > 0), 1 / total, 0.0)
        shares = torch.zeros(self.x.vocabulary, dtype=torch.float64)
        for start, stop in _blocks(self.x):
            entries = slice(int(self.x.offsets[start]), int(self.x.offsets[stop]))
            weights = torch.repeat_interleave(per_count[start:stop], sizes[start:stop])
            shares.index_add_(0, self.x.words[entries].long(), weights * self.x.counts[entries].double())
        return replace(self, shares=tuple((shares / shares.sum().clamp_min(1e-300)).tolist()))


def totals(x: SparseCounts) -> Tensor:
    """Return the counts of each cell, ``(N,)`` of float64."""
    made = torch.zeros(len(x), dtype=torch.float64)
    for start, stop in _blocks(x):
        entries = slice(int(x.offsets[start]), int(x.offsets[stop]))
        cells = torch.repeat_interleave(torch.arange(start, stop), x.offsets[start : stop + 1].diff())
        made.index_add_(0, cells, x.counts[entries].double())
    return made


def _blocks(x: SparseCounts, rows: int = 4096) -> list[tuple[int, int]]:
    return [(start, min(start + rows, len(x))) for start in range(0, len(x), rows)]


class GeneMap:
    """Puts the genes of new cells into the order of known ones; missing genes get their expected counts.

    A gene that the new data lack is not 0: of a cell whose present genes have n counts it gets n s / S, where s is its
    share in the training cells and S that of the present genes.

    Parameters
    ----------
    genes : sequence of str
        The genes of the new data.
    known : CellDataset
        The training data.
    where : str
        The new data, for messages.
    """

    def __init__(self, genes: Sequence[str], known: CellDataset, where: str) -> None:
        place = {gene: i for i, gene in enumerate(known.columns)}
        self.size = len(known.columns)
        self.columns = np.array([place.get(gene, -1) for gene in genes], dtype=np.int64)
        is_there = np.zeros(self.size, dtype=bool)
        is_there[self.columns[self.columns >= 0]] = True
        if not is_there.any():
            raise DataError(
                f"{where}: none of its genes ({_listed(genes)}) is among those of the model "
                f"({_listed(known.columns)}); give both the same kind of names, for instance symbols."
            )
        shares = np.array(known.shares or np.zeros(self.size))
        self.absent = np.nonzero(~is_there & (shares > _NOTHING))[0]
        self.expected = shares[self.absent] / max(shares[is_there].sum(), 1e-300)
        self.is_identity = len(genes) == self.size and bool((self.columns == np.arange(self.size)).all())
        self.missing = tuple(known.columns[i] for i in np.nonzero(~is_there)[0])
        if self.missing:
            warnings.warn(
                f"{where}: {len(self.missing)} of the {self.size} genes of the model are missing "
                f"({_listed(self.missing)}); they "
                "are given their expected counts.",
                UnknotWarning,
                stacklevel=2,
            )

    def __call__(self, rows: Any) -> Any:
        """Return rows of new genes, a CSR matrix of scipy, as rows of the known genes."""
        from scipy import sparse

        if self.is_identity:
            return rows
        columns = self.columns[rows.indices]
        kept = columns >= 0
        before = np.concatenate([[0], np.cumsum(kept)])
        parts = (rows.data[kept], columns[kept], before[rows.indptr])
        made = sparse.csr_matrix(parts, shape=(rows.shape[0], self.size))
        if len(self.absent):
            total = np.asarray(made.sum(1)).reshape(-1, 1)
            filled = sparse.csr_matrix((total * self.expected).astype(np.float32))
            filled = sparse.csr_matrix(
                (filled.data, self.absent[filled.indices], filled.indptr), shape=made.shape
            )
            made = made + filled
        made.sort_indices()
        return made


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
