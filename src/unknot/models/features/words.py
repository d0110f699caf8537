"""Words: the features of texts, tf-idf of words and of the letters in them, and their truncated SVD."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.text_dataset import TextDataset
from unknot.models.features.features import Features, register_features

_COMPONENTS = 50
_SHORTEST, _LONGEST = 2, 5  # letters of an n-gram
_MOST_GRAMS = 40_000
_MOST_TEXTS = 5000  # that the components are learned from


@register_features
class Words(Features):
    """Tf-idf of V words and of the n-grams of two to five letters in them; dense features are their truncated SVD.

    N-grams are those of the words of the vocabulary with a space on both sides, so that they are computed from the
    counts of words alone. Words and n-grams both have the Euclidean length 1, or 0 in a text without known words. The
    linear inputs are words and n-grams side by side, sparse ``(B, V + G)``; the features are their first K singular
    components, without centering.

    Parameters
    ----------
    words : int
        V.
    grams : int
        The number of n-grams, G.
    entries : int
        How many pairs of a word and an n-gram in it there are.
    components : int
        K.
    """

    name: ClassVar[str] = "words"

    def __init__(self, words: int, grams: int, entries: int, components: int) -> None:
        super().__init__()
        self.words, self.grams, self.entries, self.components = words, grams, entries, components
        self.register_buffer("word_idf", torch.ones(words))
        self.register_buffer("gram_idf", torch.ones(grams))
        self.register_buffer("pairs", torch.zeros(2, entries, dtype=torch.int64))  # word, n-gram
        self.register_buffer("counts", torch.zeros(entries))
        self.register_buffer("directions", torch.zeros(words + grams, components))
        self.word_idf: Tensor
        self.gram_idf: Tensor
        self.pairs: Tensor
        self.counts: Tensor
        self.directions: Tensor

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        return isinstance(data.x, SparseCounts) and bool(data.columns)

    @classmethod
    @torch.no_grad()
    def for_data(cls, data: Dataset) -> Words:
        assert isinstance(data.x, SparseCounts)
        letters = _letters(data.columns)  # (V, G)
        words, grams = letters.shape
        rows = torch.arange(len(data))
        if len(data) > _MOST_TEXTS:
            generator = torch.Generator().manual_seed(0)
            rows = torch.randperm(len(data), generator=generator)[:_MOST_TEXTS].sort().values
        components = max(1, min(_COMPONENTS, len(rows) - 1, words + grams - 1))
        made = cls(words, grams, letters.nnz, components)
        pairs = letters.tocoo()
        made.pairs.copy_(torch.from_numpy(np.stack([pairs.row, pairs.col]).astype(np.int64)))
        made.counts.copy_(torch.from_numpy(pairs.data.astype(np.float32)))
        counts = data.x.to_scipy()
        counter = data.counter if isinstance(data, TextDataset) else None
        if counter is None or counter.weights == "counts":  # otherwise words are weighted already
            made.word_idf.copy_(_idf(counts))
        made.gram_idf.copy_(_idf((counts > 0).astype(np.float32) @ letters))
        made.directions.copy_(_singular_vectors(made._sparse(data.x.floats(rows)), components))
        return made

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "words": self.words,
            "grams": self.grams,
            "entries": self.entries,
            "components": self.components,
        }

    @property
    def size(self) -> int:
        return self.components

    @property
    def linear_size(self) -> int:
        return self.words + self.grams

    def forward(self, x: Tensor) -> Tensor:
        return torch.sparse.mm(self._sparse(x), self.directions)

    def linear_inputs(self, x: Tensor, features: Tensor) -> Tensor:
        return self._sparse(x)

    def _sparse(self, x: Tensor) -> Tensor:
        """Return words and n-grams, sparse ``(B, V + G)``, of counts ``(B, V)``."""
        from scipy.sparse import csr_matrix

        x = (x if x.is_sparse else x.to_sparse()).coalesce()
        letters = csr_matrix((self.counts.numpy(), self.pairs.numpy()), shape=(self.words, self.grams))
        product = (as_scipy(x) @ letters).tocoo()
        places = torch.from_numpy(np.stack([product.row, product.col]).astype(np.int64))
        grams = torch.sparse_coo_tensor(
            places, torch.from_numpy(product.data), product.shape, check_invariants=False
        ).coalesce()
        words = _of_length_one(x, self.word_idf)
        return torch.cat([words, _of_length_one(grams, self.gram_idf)], 1).coalesce()


def _letters(words: tuple[str, ...]) -> Any:
    """Return how often each n-gram is in each word, CSR ``(V, G)``; those of one word only are left out."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import CountVectorizer

    options = {"analyzer": "char_wb", "ngram_range": (_SHORTEST, _LONGEST), "max_features": _MOST_GRAMS}
    try:
        return CountVectorizer(**options, min_df=2 if len(words) > 1 else 1).fit_transform(words)
    except ValueError:  # no two words have letters in common
        return csr_matrix((len(words), 0), dtype=np.int64)


def _idf(counts: Any) -> Tensor:
    """Return log((1 + N) / (1 + number of texts with the column)) + 1 of each column."""
    texts = np.bincount(counts.tocsr().indices, minlength=counts.shape[1])
    return torch.from_numpy((np.log((1 + counts.shape[0]) / (1 + texts)) + 1).astype(np.float32))


def _of_length_one(counts: Tensor, idf: Tensor) -> Tensor:
    """Return log(1 + count) times idf, with rows of the Euclidean length 1."""
    rows, columns = counts.indices()
    weights = torch.log1p(counts.values()) * idf[columns]
    squares = weights.new_zeros(len(counts)).index_add(0, rows, weights**2)
    scaled = weights / squares.sqrt().clamp_min(1e-9)[rows]
    return torch.sparse_coo_tensor(
        counts.indices(), scaled, counts.shape, is_coalesced=True, check_invariants=False
    )


def _singular_vectors(rows: Tensor, count: int) -> Tensor:
    """Return the first right singular vectors ``(G, count)`` of sparse rows ``(N, G)``."""
    from sklearn.decomposition import TruncatedSVD

    matrix = as_scipy(rows)
    found = TruncatedSVD(count, n_iter=4, random_state=0).fit(matrix).components_
    return torch.from_numpy(found.T.astype(np.float32))


def as_scipy(rows: Tensor) -> Any:
    """Return a sparse tensor ``(N, G)`` as a CSR matrix of scipy."""
    from scipy.sparse import csr_matrix

    rows = rows.coalesce()
    return csr_matrix((rows.values().numpy(), rows.indices().numpy()), shape=tuple(rows.shape))
