"""SparseCounts: word counts of documents as a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.errors import DataError

_ROWS = 4096  # that are copied together


class SparseCounts:
    """Counts ``(N, V)`` by rows (CSR): a million short documents over 50,000 words take some 400 MB, not 200 GB.

    It has the interface of the tensor ``Dataset.x``: ``len``, ``shape``, ``device``, ``to``, and indexing, which
    returns dense rows. A batch is a sparse tensor ``(B, V)`` of torch's COO layout, coalesced.

    Parameters
    ----------
    offsets : Tensor of int64, shape (N + 1,)
        Where the words of each document begin.
    words : Tensor of int32
        The columns of the words that occur, increasing within a document.
    counts : Tensor
        Their counts or weights.
    vocabulary : int
        The number of words, V.
    """

    def __init__(self, offsets: Tensor, words: Tensor, counts: Tensor, vocabulary: int) -> None:
        self.offsets, self.words, self.counts, self.vocabulary = offsets, words, counts, vocabulary
        last = int(offsets[-1]) if len(offsets) else -1
        beyond = len(words) > 0 and (int(words.min()) < 0 or int(words.max()) >= vocabulary)
        if last != len(words) or len(words) != len(counts) or bool((offsets.diff() < 0).any()) or beyond:
            raise DataError(
                f"these are not counts of {vocabulary} words by rows: {len(offsets)} offsets up to {last}, "
                f"{len(words)} words, {len(counts)} counts."
            )

    @classmethod
    def from_scipy(cls, matrix: Any) -> SparseCounts:
        """Convert a sparse ``matrix`` of scipy; duplicate entries are added, negative ones refused."""
        rows = matrix.tocsr().copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
        if rows.nnz and rows.data.min() < 0:
            raise DataError(f"counts are at least 0, but the sparse matrix holds {rows.data.min():g}.")
        if rows.nnz and rows.data.dtype.kind != "f" and rows.data.max() > np.iinfo(np.int32).max:
            raise DataError(f"counts are less than 2^31, but the sparse matrix holds {rows.data.max()}.")
        counts = rows.data.astype(np.float32 if rows.data.dtype.kind == "f" else np.int32)
        return cls(
            torch.from_numpy(rows.indptr.astype(np.int64)),
            torch.from_numpy(rows.indices.astype(np.int32)),
            torch.from_numpy(counts),
            rows.shape[1],
        )

    def to_scipy(self) -> Any:
        """Return the counts as a CSR matrix of scipy."""
        from scipy import sparse

        parts = (self.counts.cpu().numpy(), self.words.cpu().numpy(), self.offsets.cpu().numpy())
        return sparse.csr_matrix(parts, shape=tuple(self.shape))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> torch.Size:
        return torch.Size((len(self), self.vocabulary))

    @property
    def dtype(self) -> torch.dtype:
        return self.counts.dtype

    @property
    def device(self) -> torch.device:
        return self.counts.device

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.words.nbytes + self.counts.nbytes

    def to(self, device: torch.device | str) -> SparseCounts:
        """Return the counts on another ``device``."""
        parts = (self.offsets.to(device), self.words.to(device), self.counts.to(device))
        return SparseCounts(*parts, self.vocabulary)

    def select(self, rows: Tensor) -> SparseCounts:
        """Return the documents of the given ``rows``, still sparse."""
        sizes = self.offsets.index_select(0, rows + 1) - self.offsets.index_select(0, rows)
        offsets = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        words = self.words.new_empty(int(offsets[-1]))
        counts = self.counts.new_empty(len(words))
        for start in range(
            0, len(rows), _ROWS
        ):  # the positions of all entries at once would take more than these
            stop = min(start + _ROWS, len(rows))
            _, places = self._places(rows[start:stop])
            made = slice(int(offsets[start]), int(offsets[stop]))
            words[made], counts[made] = self.words[places], self.counts[places]
        return SparseCounts(offsets, words, counts, self.vocabulary)

    def floats(self, rows: Tensor) -> Tensor:
        """Return the documents of the given ``rows`` as a sparse float32 tensor ``(B, V)``."""
        sizes, places = self._places(rows)
        documents = torch.repeat_interleave(torch.arange(len(rows), device=self.device), sizes)
        indices = torch.stack([documents, self.words[places].long()])  # (2, words present)
        counts, shape = self.counts[places].float(), (len(rows), self.vocabulary)
        return torch.sparse_coo_tensor(indices, counts, shape, is_coalesced=True, check_invariants=False)

    def __getitem__(self, index: int | slice | Sequence[int] | Tensor) -> Tensor:
        rows = torch.arange(len(self), device=self.device)[index]
        dense = self.floats(rows.reshape(-1)).to_dense().to(self.dtype)
        return dense[0] if rows.ndim == 0 else dense

    def _places(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the number of words of each document in ``rows``, and the positions of all of them."""
        starts = self.offsets.index_select(0, rows)
        sizes = self.offsets.index_select(0, rows + 1) - starts  # (B,)
        before = sizes.cumsum(0) - sizes
        shift = torch.repeat_interleave(starts - before, sizes)
        return sizes, shift + torch.arange(len(shift), device=self.device)

    def __repr__(self) -> str:
        return f"SparseCounts(shape={tuple(self.shape)}, {self.nbytes / 1e6:.1f} MB)"
