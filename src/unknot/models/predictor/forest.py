"""ForestMember: a random forest beside extremely randomized trees, fitted by scikit-learn and kept as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unknot.models.predictor.targets import Targets

_TREES, _TREES_OF_FOLD = 100, 50  # of each of the two kinds
_MOST_SHARES = 1 << 23  # numbers in the leaves of all trees, at most: fewer trees then
_FEWEST_TREES = 10


class ForestMember(nn.Module):
    """The mean over T trees of the class shares ``(B, K)``, or numbers ``(B, D)``, in the leaf of each item.

    Parameters
    ----------
    trees : int
        T.
    nodes : int
        The nodes of the largest tree, to which all are padded.
    depth : int
        How many splits a path has, at most.
    outputs : int
        K or D.
    """

    def __init__(self, trees: int, nodes: int, depth: int, outputs: int) -> None:
        super().__init__()
        self.depth = depth
        self.register_buffer("feature", torch.full((trees, nodes), -1, dtype=torch.int32))  # -1 in a leaf
        self.register_buffer("threshold", torch.zeros(trees, nodes))
        self.register_buffer("below", torch.zeros(trees, nodes, 2, dtype=torch.int32))  # left, right
        self.register_buffer("shares", torch.zeros(trees, nodes, outputs))
        self.feature: Tensor
        self.threshold: Tensor
        self.below: Tensor
        self.shares: Tensor

    def forward(self, features: Tensor) -> Tensor:
        return self._leaves(features).mean(1)

    def parts(self, features: Tensor, count: int) -> Tensor:
        """Return the means over each of ``count`` parts of the trees, ``(count, B, K)``."""
        leaves = self._leaves(features)
        return torch.stack([leaves[:, part::count].mean(1) for part in range(min(count, leaves.shape[1]))])

    def _leaves(self, features: Tensor) -> Tensor:
        """Return the shares in the leaf of each tree, ``(B, T, K)``."""
        trees, nodes = self.feature.shape
        offset = torch.arange(trees, device=features.device) * nodes
        feature, threshold = self.feature.flatten().long(), self.threshold.flatten()
        below_of = self.below.flatten().long()
        place = offset.expand(len(features), trees)  # (B, T)
        for _ in range(self.depth):
            split = feature[place]
            right = features.gather(1, split.clamp_min(0)) > threshold[place]
            below = offset + below_of[2 * place + right]
            place = torch.where(split >= 0, below, place)
        return self.shares.flatten(0, 1)[place]


@dataclass(frozen=True)
class ForestFit:
    """A fitted forest and its out-of-fold predictions ``(n, K)`` or ``(n, D)``."""

    member: ForestMember
    out_of_fold: np.ndarray


def fit_forest(features: np.ndarray, targets: Targets, seed: int = 0) -> ForestFit:
    """Fit a forest to labels, and predict each label by a forest of half the size from which it was hidden.

    Parameters
    ----------
    features : ndarray of float32, shape (n, F)
        The features of labeled items.
    targets : Targets
        Their labels, dealt into folds.
    seed : int, default=0
        The seed of the trees.

    Returns
    -------
    ForestFit
    """
    out_of_fold = np.zeros((len(targets), targets.outputs))
    for k in range(targets.folds):
        seen = targets.fold != k
        models = _fit(features[seen], targets.select(seen), _TREES_OF_FOLD, seed)
        out_of_fold[~seen] = np.mean([_predict(m, features[~seen], targets) for m in models], 0)
    member = exported(_fit(features, targets, _TREES, seed), targets)
    return ForestFit(member, out_of_fold)


def _fit(features: np.ndarray, targets: Targets, trees: int, seed: int) -> list[Any]:
    from sklearn import ensemble

    kind = "Classifier" if targets.classes else "Regressor"
    kinds = [getattr(ensemble, name + kind) for name in ("RandomForest", "ExtraTrees")]
    trees = max(_FEWEST_TREES, min(trees, _MOST_SHARES // (4 * len(targets) * targets.outputs)))
    return [one(n_estimators=trees, random_state=seed).fit(features, _values(targets)) for one in kinds]


def _values(targets: Targets) -> np.ndarray:
    single = not targets.classes and targets.outputs == 1
    return targets.values[:, 0] if single else targets.values


def _predict(model: Any, features: np.ndarray, targets: Targets) -> np.ndarray:
    if not targets.classes:
        return np.asarray(model.predict(features)).reshape(len(features), -1)
    shares = np.zeros((len(features), targets.outputs))
    shares[:, model.classes_] = model.predict_proba(features)
    return shares


def exported(models: list[Any], targets: Targets) -> ForestMember:
    """Return the trees of scikit-learn's forests as one member."""
    trees = [(one.tree_, model) for model in models for one in model.estimators_]
    nodes, depth = max(t.node_count for t, _ in trees), max(t.max_depth for t, _ in trees)
    member = ForestMember(len(trees), nodes, depth, targets.outputs)
    for i, (tree, model) in enumerate(trees):
        count = tree.node_count
        member.feature[i, :count] = torch.from_numpy(np.where(tree.children_left < 0, -1, tree.feature))
        member.threshold[i, :count] = torch.from_numpy(_rounded_down(tree.threshold))
        children = np.stack([tree.children_left, tree.children_right], 1).clip(0)
        member.below[i, :count] = torch.from_numpy(children)
        values = tree.value[:, 0, :] if targets.classes else tree.value[:, :, 0]  # (nodes, K) or (nodes, D)
        if targets.classes:
            values = values / values.sum(1, keepdims=True)
            member.shares[i, :count, torch.from_numpy(model.classes_)] = torch.from_numpy(values).float()
        else:
            member.shares[i, :count] = torch.from_numpy(values).float()
    return member


def _rounded_down(threshold: np.ndarray) -> np.ndarray:
    """Return the largest float32 at most each threshold, so that float32 features fall on the same side of both."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
