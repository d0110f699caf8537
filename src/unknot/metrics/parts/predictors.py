"""A random forest at every depth at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Columns

# ---- Codes as the matrix that linear models and trees take, and rows to train and to test on -------------


def one_hot(codes: Columns) -> tuple[np.ndarray, np.ndarray]:
    """``(N, P)`` with an indicator for each category, and the code ``(P,)`` that each of these columns belongs to."""
    parts, owner = [], []
    for d, size in enumerate(codes.sizes):
        values = codes.values[:, d]
        parts.append(np.eye(size)[values.astype(int)] if size else values[:, None])
        owner += [d] * max(size, 1)
    return np.concatenate(parts, 1), np.array(owner)


def standardize(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both by the mean and the spread of the first; a constant column becomes 0."""
    mean, spread = train.mean(0), train.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    return (train - mean) / spread, (test - mean) / spread


def split(rows: int, shares: tuple[float, ...], seed: int | None) -> list[np.ndarray]:
    """Row numbers, shuffled, in parts of these shares; no part with a positive share is empty.

    >>> [len(part) for part in split(10, (0.8, 0.1, 0.1), 0)]
    [8, 1, 1]
    """
    order = np.random.default_rng(seed).permutation(rows)
    ends = np.round(np.cumsum(shares) * rows).astype(int)
    return np.split(order, ends[:-1])


def whole_or_split(rows: int, train_share: float, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train and to test on; the same ones if all are trained on."""
    if train_share >= 1:
        return np.arange(rows), np.arange(rows)
    train, test = split(rows, (train_share, 1 - train_share), seed)
    return train, test


# Linear classifiers with scikit-learn, quiet when the protocol's number of rounds ends before they converge.


def fit_logistic(
    x: np.ndarray,
    y: np.ndarray,
    penalty: float = np.inf,
    balanced: bool = False,
    tolerance: float = 1e-4,
    iterations: int = 100,
) -> Any:
    """A multinomial logistic regression by lbfgs; ``penalty`` is scikit-learn's C, infinite for none."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=penalty, class_weight="balanced" if balanced else None, tol=tolerance, max_iter=iterations
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)


# ---- Gradient boosting with the importance of each column ------------------------------------------------


def fit_boosting(
    x: np.ndarray, y: np.ndarray, discrete: bool, rounds: int, depth: int, histogram: bool, seed: int | None
) -> tuple[Any, np.ndarray]:
    """scikit-learn's boosting, exact or by histograms, and the importances ``(P,)`` as shares.

    The exact one sorts every column for every tree, a tree a class and round. The other sorts once, into at most 255
    bins, and its importance is the sum of the gains of its splits.
    """
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )

    if not histogram:
        exact = GradientBoostingClassifier if discrete else GradientBoostingRegressor
        model = exact(n_estimators=rounds, max_depth=depth, random_state=seed).fit(x, y)
        return model, model.feature_importances_
    binned = HistGradientBoostingClassifier if discrete else HistGradientBoostingRegressor
    model = binned(
        max_iter=rounds,
        max_depth=depth,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        early_stopping=False,
        random_state=seed,
    ).fit(x, y)
    gains = np.zeros(x.shape[1])
    for trees in model._predictors:  # scikit-learn shows the gains nowhere else
        for tree in trees:
            splits = tree.nodes[tree.nodes["is_leaf"] == 0]
            gains += np.bincount(splits["feature_idx"], splits["gain"], minlength=x.shape[1])
    return model, gains / max(gains.sum(), np.finfo(float).tiny)


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
