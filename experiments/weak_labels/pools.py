"""Items whose classes form groups: pixels of digits and clothes, cells, posts and two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.own_data.read_tables import read_table
from experiments.own_data.read_wide import cells, pixels
from unknot.data import load
from unknot.data.files.directories import data_directory
from unknot.data.hierarchy import Hierarchy
from unknot.data.sparse_counts import SparseCounts

MOST, TESTED = 800, 1000  # items to learn from, and to test on; of small sets a third is tested
_COMPONENTS = 50

# The groups of classes by set; classes that are not named here are a group of their own.
GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "made": {"low": ("0", "1"), "high": ("2", "3")},
    "MNIST": {"loops": ("0", "6", "8", "9"), "lines": ("1", "4", "7"), "curves": ("2", "3", "5")},
    "Fashion-MNIST": {
        "tops": ("0", "2", "3", "4", "6"),  # T-shirt, pullover, dress, coat, shirt
        "shoes": ("5", "7", "9"),  # sandal, sneaker, boot
    },
    "kidney cells": {
        "lymphoid": ("CD4T cell", "CD8T cell", "NK cell", "NKT cell", "B cell"),
        "myeloid": ("MNPa(mono)", "MNPb(mono)", "MNPc(DC)", "MNPd(Mac)", "Mast cell", "Neutrophil", "pDC"),
    },
    "20 Newsgroups": {},  # by their names: computers, recreation, science, for sale, politics and religion
    "satimage": {"grey soils": ("3", "4", "7"), "vegetation": ("2", "5")},
    "segment": {"nature": ("2", "3", "7"), "buildings": ("1", "4", "5", "6")},
}
KEEL_CLASSES = {"satimage": ("1", "2", "3", "4", "5", "7"), "segment": ("1", "2", "3", "4", "5", "6", "7")}
_NEWSGROUPS = {"comp": "computers", "rec": "recreation", "sci": "science", "misc": "for sale"}


@dataclass(frozen=True)
class Pool:
    """Items to learn from and to test on, with their true classes.

    Parameters
    ----------
    x, x_test : ndarray or sparse matrix
        Rows.
    y, y_test : ndarray of int
        Classes, by their place among the leaves of the tree.
    tree : Hierarchy
        The groups of classes.
    model : str
        The default model that is fitted.
    """

    x: Any
    y: np.ndarray
    x_test: Any
    y_test: np.ndarray
    tree: Hierarchy
    model: str

    @property
    def names(self) -> np.ndarray:
        """The names of the classes, in the order of their numbers."""
        return np.asarray(self.tree.leaves, dtype=object)

    @property
    def groups(self) -> np.ndarray:
        """The group of each class, by its place among all groups."""
        top = self.tree.at_depth(1)
        return np.array([top.index(self.tree.path(name)[0]) for name in self.tree.leaves])

    @cached_property
    def features(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what the linear models learn from: standardized numbers, and of wide rows 50 components.

        Counts of genes are log-normalized and counts of words weighted by tf-idf before. All rows that are learned
        from take part, labeled or not.
        """
        from scipy import sparse
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.preprocessing import StandardScaler

        train, test = self.x, self.x_test
        if self.model == "topics":
            weights = TfidfTransformer(sublinear_tf=True).fit(train)
            train, test = weights.transform(train), weights.transform(test)
        elif sparse.issparse(train):
            train, test = (_log_normalized(x) for x in (train, test))
        if train.shape[1] > 500:
            components = TruncatedSVD(_COMPONENTS, random_state=0).fit(train)
            train, test = components.transform(train), components.transform(test)
        scale = StandardScaler().fit(train)
        return scale.transform(train), scale.transform(test)


def read_pool(name: str, seed: int) -> Pool:
    """Return a set, divided at random by the seed."""
    x, labels = _items(name)
    group_of = {one: group for group, members in GROUPS.get(name, {}).items() for one in members}
    if name == "20 Newsgroups":
        group_of = {one: _newsgroup(one) for one in labels}
    tree = Hierarchy.from_pairs((one, group_of.get(one)) for one in sorted(set(labels)))
    place = {leaf: k for k, leaf in enumerate(tree.leaves)}
    y = np.array([place[one] for one in labels])
    order = np.random.default_rng(seed).permutation(len(y))
    tested = min(TESTED, len(y) // 3)
    test, train = order[:tested], order[tested : tested + MOST]
    model = "topics" if name == "20 Newsgroups" else "ensemble"
    return Pool(x[train], y[train], x[test], y[test], tree, model)


def _items(name: str) -> tuple[Any, list[str]]:
    """Return rows and the names of their classes."""
    if name == "made":
        rng = np.random.default_rng(0)
        y = np.arange(240) % 4
        return (rng.normal(size=(240, 4)) + 2 * np.eye(4)[y]).astype(np.float32), [f"{k}" for k in y]
    if name == "20 Newsgroups":
        data = load("20news")
        groups = data.factor("group")
        assert isinstance(data.x, SparseCounts)
        assert groups.classes is not None
        return data.x.to_scipy().tocsr(), [groups.classes[k] for k in groups.values.tolist()]
    if name == "kidney cells":
        return cells("kidney_immune").x, _cell_types()
    if name in ("MNIST", "Fashion-MNIST"):
        found = pixels(name)
        return found.x.astype(np.float32), [str(k) for k in found.y]
    table = read_table(f"keel/{name}")
    names = KEEL_CLASSES[name]
    return table.x.to_numpy(np.float32), [names[k] for k in table.y]


def _cell_types() -> list[str]:
    """Return the types of the cells in the order of the file; the reader of own-data has them as numbers."""
    import h5py

    folder = data_directory()
    with h5py.File((Path() if folder is None else folder) / "cells" / "kidney_immune.h5ad") as file:
        kinds = file["obs/cell_type"]
        return [str(one) for one in kinds["categories"][:].astype(str)[kinds["codes"][:]]]


def _newsgroup(name: str) -> str:
    first = name.split(".")[0]
    if name.startswith("talk.politics"):
        return "politics"
    return _NEWSGROUPS.get(first, "religion")


def _log_normalized(x: Any) -> Any:
    total = np.asarray(x.sum(1)).ravel()
    scaled = x.multiply(1e4 / np.maximum(total, 1)[:, None]).tocsr()
    return scaled.log1p()
