"""20 Newsgroups as counts: the bag of words that ProdLDA and E19 train on (vocabulary of 1995).

The published preprocessing has no group labels; the file read here carries them, recovered by aligning the
documents with the raw text. Where it cannot be had, ``20news-text`` counts the words of the raw text itself.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.files.catalogue import DataFile, Entry, Files, Form
from unknot.data.files.stored_arrays import read_npz
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError

ID_STRIDE = 10**6  # a post is known by its group and its file name, a number below a million

ENTRY = Entry(
    name="20news",
    title="20 Newsgroups, bag of words",
    what="word counts of Usenet posts (ProdLDA's vocabulary)",
    items="11258 + 7487",
    shape="1995 counts",
    factors="group (20)",
    licence="MIT (preprocessing); the posts carry none",
    folder="20news",
    forms=(
        Form(
            "counts",
            (
                DataFile(
                    "20news_prodlda_bow.npz",
                    "sha256:e1a8e9305b538f4394241fa59839efad855a467f86490f407a4fe5bb8bdc3250",
                    1549817,
                ),
            ),
        ),
    ),
    hint="or use 20news-text, which counts the words of the raw posts and can be fetched",
)


def build(files: Files) -> Dataset:
    """Factor ``group`` (20 classes); x sparse counts (N, 1995), its ``columns`` the words; splits ``train``, ``test``.

    Word 0, ``_eos_``, is the placeholder of the published vocabulary and never occurs.
    """
    path = files.first
    parts = ("data", "indices", "indptr", "labels", "doc_id")
    names = [f"{split}_{part}" for split in ("train", "test") for part in parts]
    raw = read_npz(path, *names, "shape_train", "shape_test", "vocab", "groups")
    counts = [_counts(raw, split) for split in ("train", "test")]
    x = SparseCounts.from_scipy(sparse.vstack(counts))  # (N, V)
    group = torch.from_numpy(np.concatenate([raw["train_labels"], raw["test_labels"]]).astype(np.int64))
    number = torch.from_numpy(np.concatenate([raw["train_doc_id"], raw["test_doc_id"]]).astype(np.int64))
    rows = torch.arange(len(x))
    splits = {"train": rows[: counts[0].shape[0]], "test": rows[counts[0].shape[0] :]}
    factors = {"group": Factor("group", "categorical", group, tuple(raw["groups"].tolist()))}
    vocabulary = tuple(raw["vocab"].tolist())
    ids = group * ID_STRIDE + number
    return Dataset("20news", x, ids, factors, splits, files.entry.licence, vocabulary)


def _counts(raw: dict[str, np.ndarray], split: str) -> sparse.csr_matrix:
    """The CSR parts of one split as a matrix (documents, words)."""
    data, indices, indptr = (raw[f"{split}_{part}"] for part in ("data", "indices", "indptr"))
    documents, words = (int(length) for length in raw[f"shape_{split}"])
    try:
        return sparse.csr_matrix(
            (data.astype(np.int32), indices.astype(np.int32), indptr), (documents, words)
        )
    except ValueError:
        raise DataError(
            f"20news: the {split} counts are not a CSR matrix of {documents} x {words} small counts."
        ) from None
