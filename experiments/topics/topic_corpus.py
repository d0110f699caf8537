"""Documents of the topic experiments: 20 Newsgroups as in E19, or a small synthetic corpus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from scipy import sparse

from unknot.data import load
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.sparse_counts import SparseCounts

_SEED = 7  # of the halves of documents


@dataclass(frozen=True)
class Corpus:
    """Documents to train on and to test on, as counts; ``words`` are their columns."""

    train: Dataset
    test: Dataset

    @property
    def words(self) -> tuple[str, ...]:
        return self.train.columns

    def matrix(self, part: str) -> Any:
        """Return counts of "train", "test" or "both" as a CSR matrix."""
        parts = {"train": [self.train], "test": [self.test], "both": [self.train, self.test]}[part]
        return sparse.vstack([_counts(data).to_scipy() for data in parts]).tocsr()


@lru_cache(maxsize=2)
def corpus(name: str) -> Corpus:
    """Return a corpus by name: "20news", or "made" for a synthetic one."""
    data = made_corpus() if name == "made" else load(name)
    return Corpus(data.split("train"), data.split("test"))


def made_corpus(documents: int = 240, words: int = 60, topics: int = 4) -> Dataset:
    """Return a corpus sampled from a mixture of topics; its group is the topic with the largest share."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(topics, 0.2), documents)  # (N, K)
    spoken = rng.dirichlet(np.full(words, 0.1), topics)  # (K, V)
    counts = np.stack([rng.multinomial(30, share @ spoken) for share in shares])
    group = Factor("group", "categorical", torch.from_numpy(shares.argmax(1)), tuple("abcdefgh"[:topics]))
    rows = torch.arange(documents)
    return Dataset(
        "made",
        SparseCounts.from_scipy(sparse.csr_matrix(counts)),
        rows,
        {"group": group},
        {"train": rows[: documents * 2 // 3], "test": rows[documents * 2 // 3 :]},
        columns=tuple(f"w{i}" for i in range(words)),
    )


def halves(data: Dataset) -> tuple[Dataset, Dataset]:
    """Split the words of every document at random into two halves, for document completion."""
    whole = _counts(data).to_scipy().astype(np.int64)
    first = whole.copy()
    first.data = np.random.default_rng(_SEED).binomial(whole.data, 0.5)
    parts = [SparseCounts.from_scipy(part) for part in (first, whole - first)]
    return replace(data, x=parts[0]), replace(data, x=parts[1])


def _counts(data: Dataset) -> SparseCounts:
    assert isinstance(data.x, SparseCounts)
    return data.x
