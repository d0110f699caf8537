"""A random forest at every depth at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Forest:
    """A forest grown once, read as if it had been stopped at any smaller depth.

    Trees are grown greedily, so what stands above depth d does not depend on what was grown below it: a tree cut at
    depth d is a tree grown to depth d. One fit therefore gives the whole curve of score against depth. Every split
    may use every column, as in the forests of Eastwood & Williams.
    """

    def __init__(
        self, x: np.ndarray, y: np.ndarray, discrete: bool, trees: int, depth: int, seed: int | None
    ) -> None:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        grow = RandomForestClassifier if discrete else RandomForestRegressor
        forest = grow(n_estimators=trees, max_depth=depth, max_features=1.0, random_state=seed).fit(x, y)
        self.discrete = discrete
        self.classes = forest.classes_ if discrete else None
        self.trees = [_CutTree(grown.tree_) for grown in forest.estimators_]

    def scores(self, x: np.ndarray, y: np.ndarray, depths: Sequence[int]) -> np.ndarray:
        """Accuracy, or R² for a number, at each depth."""
        leaves = [tree.leaves(x) for tree in self.trees]
        found = []
        for depth in depths:
            said = [tree.values_at(leaf, depth) for tree, leaf in zip(self.trees, leaves, strict=True)]
            guess = np.mean(said, axis=0)  # (N, classes) or (N, 1)
            if self.classes is not None:
                found.append(np.mean(self.classes[guess.argmax(1)] == y))
            else:
                found.append(1 - np.mean((guess[:, 0] - y) ** 2) / max(y.var(), np.finfo(float).tiny))
        return np.array(found)

    def importances(self, depth: int) -> np.ndarray:
        """How much each column lowers the impurity above a depth, as a share, mean over the trees that split."""
        found = np.array([tree.importances(depth) for tree in self.trees], dtype=float)
        total = found.sum(1, keepdims=True)
        shares = np.divide(found, total, out=np.zeros_like(found), where=total > 0)
        return shares.sum(0) / max(int((total > 0).sum()), 1)


class _CutTree:
    """One tree as arrays over its nodes; a node stands after its parent."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        left, right = tree.children_left, tree.children_right
        self.parent = np.zeros(tree.node_count, dtype=int)
        self.depth = np.zeros(tree.node_count, dtype=int)
        for node in np.flatnonzero(left >= 0):
            for child in (left[node], right[node]):
                self.parent[child], self.depth[child] = node, self.depth[node] + 1
        said = tree.value[:, 0, :]  # (nodes, classes): counts or shares, or (nodes, 1): means
        self.said = said if said.shape[1] == 1 else said / said.sum(1, keepdims=True)

    def leaves(self, x: np.ndarray) -> np.ndarray:
        """The leaf of each row."""
        return self.tree.apply(x.astype(np.float32))

    def values_at(self, leaves: np.ndarray, depth: int) -> np.ndarray:
        """What the tree says of each row when it is cut at a depth."""
        node = np.arange(len(self.parent))
        for _ in range(int(self.depth.max(initial=0)) - depth):
            node = np.where(self.depth[node] > depth, self.parent[node], node)
        return self.said[node[leaves]]

    def importances(self, depth: int) -> np.ndarray:
        """Fall of impurity by column, over the splits above a depth."""
        tree = self.tree
        split = np.flatnonzero((tree.children_left >= 0) & (self.depth < depth))
        impure = tree.weighted_n_node_samples * tree.impurity
        fall = impure[split] - impure[tree.children_left[split]] - impure[tree.children_right[split]]
        return np.bincount(tree.feature[split], fall, minlength=tree.n_features)
