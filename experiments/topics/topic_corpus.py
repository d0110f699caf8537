"""The documents of the topic experiments: 20 Newsgroups as E19 has it, or a small corpus made for tests."""

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

_HELD_OUT = 2000  # training documents that settings are chosen on
_SEED = 7  # of that choice, and of what is hidden of a document


@dataclass(frozen=True)
class Corpus:
    """Documents to train on and to test on, as counts; ``words`` are their columns."""

    train: Dataset
    test: Dataset

    @property
    def words(self) -> tuple[str, ...]:
        return self.train.columns

    def matrix(self, part: str) -> Any:
        """Counts of "train", "test" or "both" as scipy's CSR matrix."""
        parts = {"train": [self.train], "test": [self.test], "both": [self.train, self.test]}[part]
        return sparse.vstack([_counts(data).to_scipy() for data in parts]).tocsr()


@lru_cache(maxsize=2)
def corpus(name: str, tuning: bool = False) -> Corpus:
    """A corpus by name: "20news", or "made".

    ``tuning``: settings are being chosen, so that a part of the *training* documents stands for the test documents.
    """
    data = made_corpus() if name == "made" else load(name)
    train, test = data.split("train"), data.split("test")
    if tuning:
        order = torch.randperm(len(train), generator=torch.Generator().manual_seed(_SEED))
        held = min(_HELD_OUT, len(train) // 4)
        train, test = train.subset(order[held:]), train.subset(order[:held])
    return Corpus(train, test)


def made_corpus(documents: int = 240, words: int = 60, topics: int = 4) -> Dataset:
    """A corpus drawn from a mixture of topics, for tests; its group is the topic with the largest share."""
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
    """Every document in two: each of its words, one by one, falls into either half. For document completion."""
    whole = _counts(data).to_scipy().astype(np.int64)
    first = whole.copy()
    first.data = np.random.default_rng(_SEED).binomial(whole.data, 0.5)
    parts = [SparseCounts.from_scipy(part) for part in (first, whole - first)]
    return replace(data, x=parts[0]), replace(data, x=parts[1])


def _counts(data: Dataset) -> SparseCounts:
    assert isinstance(data.x, SparseCounts)
    return data.x
