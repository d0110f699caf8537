"""LinearMember: multinomial logistic regression or ridge regression on features, with a cross-validated penalty."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse
from torch import Tensor, nn

from unknot.models.predictor.targets import Targets

# Inverse penalties C of scikit-learn, for features whose variances add up to _VARIANCE.
_GRID = np.logspace(-3, 3, 10)
_VARIANCE = 10.0
_LABELS_TO_CHOOSE = 500  # labels that the penalty is chosen by, at most
_MOST_NUMBERS = 1 << 22  # labels times dimensions that are fitted, at most
_NOTHING = 1e-12  # share of the largest variance below which a direction is rounding error


class LinearMember(nn.Module):
    """Class probabilities softmax(x W + b) ``(B, K)``, or numbers x W + b ``(B, D)``, of features ``(B, F)``.

    Parameters
    ----------
    features : int
        F.
    outputs : int
        K or D.
    classes : bool
        Whether outputs are classes.
    """

    def __init__(self, features: int, outputs: int, classes: bool) -> None:
        super().__init__()
        self.classes = classes
        self.register_buffer("weight", torch.zeros(features, outputs))
        self.register_buffer("bias", torch.zeros(outputs))
        self.weight: Tensor
        self.bias: Tensor

    def forward(self, features: Tensor) -> Tensor:
        outputs = features @ self.weight + self.bias  # dense, also of sparse features
        return outputs.softmax(-1) if self.classes else outputs


@dataclass(frozen=True)
class LinearFit:
    """A fitted linear member and its out-of-fold predictions ``(n, K)`` or ``(n, D)``."""

    member: LinearMember
    out_of_fold: np.ndarray


def fit_linear(features: Any, targets: Targets) -> LinearFit:
    """Fit a linear member to labels, and predict each label by a model from which it was hidden.

    The penalty ``|W|² / 2C`` is chosen by the log loss (or squared error) on hidden labels. A prediction for fold k
    comes from the labels of the other folds, and its penalty too: models that leave out two folds j and k are scored on
    each of them, and the scores on j choose the penalty for k. With G penalties and K folds that are
    G (K (K - 1) / 2 + K + 1) fits. With more than 500 labels the penalty is chosen by 500 of them.

    Features are rotated to at most n dimensions before, which changes no prediction (a penalty on |W|² is the same in
    every rotation), and scaled by one number, so that the same penalties suit few and many features.

    Parameters
    ----------
    features : ndarray or CSR matrix of float32, shape (n, F)
        The features of labeled items.
    targets : Targets
        Their labels, dealt into folds.

    Returns
    -------
    LinearFit
    """
    center = np.asarray(features.mean(0, dtype=np.float64)).ravel()
    rows, rotated_back = _rotated(features, center)
    grid = _penalties(rows, targets)
    out_of_fold = np.zeros((len(targets), targets.outputs))
    for k in range(targets.folds):
        seen = targets.fold != k
        best = grid.chosen_without(k)
        out_of_fold[~seen] = _fit(rows[seen], targets.select(seen), best).predict(rows[~seen])
    final = _fit(rows, targets, grid.chosen())
    member = LinearMember(features.shape[1], targets.outputs, targets.classes)
    weight = rotated_back(final.weight)  # (F, K)
    member.weight.copy_(torch.from_numpy(weight))
    member.bias.copy_(torch.from_numpy(final.bias - center @ weight))
    return LinearFit(member, out_of_fold)


# ---- the choice of the penalty -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Penalties:
    """Summed losses on fold j by models without fold j, ``alone[j]``, and without j and k, ``pairs[k, j]``: each (G,).

    Without pairs (two folds) the middle of the grid is chosen within folds.
    """

    alone: np.ndarray  # (K, G)
    pairs: np.ndarray  # (K, K, G)

    def chosen(self) -> float:
        return float(_GRID[self.alone.sum(0).argmin()])

    def chosen_without(self, k: int) -> float:
        if len(self.alone) < 3:
            return float(_GRID[len(_GRID) // 2])
        return float(_GRID[self.pairs[k].sum(0).argmin()])


def _penalties(rows: np.ndarray, targets: Targets) -> _Penalties:
    if len(targets) > _LABELS_TO_CHOOSE:
        some = np.random.default_rng(0).permutation(len(targets))[:_LABELS_TO_CHOOSE]
        rows, targets = rows[some], targets.select(some)
    folds = targets.folds
    alone, pairs = np.zeros((folds, len(_GRID))), np.zeros((folds, folds, len(_GRID)))

    def losses(hidden: tuple[int, ...]) -> list[np.ndarray]:
        seen = ~np.isin(targets.fold, hidden)
        sums = [np.zeros(len(_GRID)) for _ in hidden]
        if not seen.any():
            return sums
        start = None
        for g, inverse in enumerate(_GRID):
            start = _fit(rows[seen], targets.select(seen), inverse, start)
            for total, k in zip(sums, hidden, strict=True):
                of_fold = targets.fold == k
                total[g] = targets.select(of_fold).losses(start.predict(rows[of_fold])).sum()
        return sums

    for k in range(folds):
        (alone[k],) = losses((k,))
    for j, k in combinations(range(folds), 2) if folds > 2 else ():
        pairs[k, j], pairs[j, k] = losses((j, k))
    return _Penalties(alone, pairs)


# ---- one fit -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Linear:
    weight: np.ndarray  # (R, K) or (R, D)
    bias: np.ndarray
    absent: np.ndarray  # classes without labels, (K,)
    count: int
    classes: bool

    def predict(self, rows: np.ndarray) -> np.ndarray:
        outputs = rows @ self.weight + self.bias
        if not self.classes:
            return outputs
        odds = np.exp(outputs - outputs.max(1, keepdims=True))
        return odds / odds.sum(1, keepdims=True)


def _fit(rows: np.ndarray, targets: Targets, inverse: float, start: _Linear | None = None) -> _Linear:
    """Fit by scikit-learn; a class without labels has the probability 1 / (n + K) everywhere."""
    from sklearn.linear_model import LogisticRegression, Ridge

    count, none = len(targets), np.zeros(targets.outputs, dtype=bool)
    if not targets.classes:
        ridge = Ridge(alpha=1 / inverse).fit(rows, targets.values)
        return _Linear(np.atleast_2d(ridge.coef_).T, np.atleast_1d(ridge.intercept_), none, count, False)
    present = np.unique(targets.values)
    weight, bias = np.zeros((rows.shape[1], targets.outputs)), np.zeros(targets.outputs)
    absent = np.ones(targets.outputs, dtype=bool)
    absent[present] = False
    if len(present) > 1:
        model = LogisticRegression(C=inverse, tol=1e-3, max_iter=200, warm_start=start is not None)
        if start is not None and len(present) > 2:
            model.coef_, model.intercept_ = start.weight.T[present], start.bias[present]
            model.classes_ = present
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # that it has not converged: the penalty decides, not the last digit
            model.fit(rows, targets.values)
        two = len(present) == 2
        coefficients = np.concatenate([-model.coef_, model.coef_]) / 2 if two else model.coef_
        intercepts = np.concatenate([-model.intercept_, model.intercept_]) / 2 if two else model.intercept_
        weight[:, present], bias[present] = coefficients.T, intercepts
    # the share of absent classes is constant only in the mean, where features are at their center
    odds = np.exp(bias[present] - bias[present].max()).sum()
    bias[absent] = bias[present].max() + np.log(odds / count)
    return _Linear(weight, bias, absent, count, True)


def _rotated(features: Any, center: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return centered rows ``(n, R)`` of at most n dimensions, and how weights of these become weights ``(F, K)``.

    With more columns than rows, X = U S V' by the eigenvectors of X X', which sparse features have too.
    """
    count, columns = features.shape
    if columns <= count:
        centered = (features.toarray() if issparse(features) else features) - center
        scale = _scale(np.square(centered).mean(0).sum())
        return centered * scale, lambda weight: weight * scale
    wide = features.astype(np.float64)
    products, along = wide @ wide.T, np.asarray(wide @ center).ravel()
    gram = products.toarray() if issparse(products) else products
    gram = gram - along[:, None] - along + center @ center
    squares, vectors = np.linalg.eigh(gram)  # ascending
    kept = squares > _NOTHING * max(squares[-1], _NOTHING)
    singular, left = np.sqrt(squares[kept]), vectors[:, kept]
    scale = _scale(squares[kept].sum() / count)

    def rotated_back(weight: np.ndarray) -> np.ndarray:
        inner = left @ (weight / singular[:, None])  # (n, K)
        return np.asarray(wide.T @ inner - np.outer(center, inner.sum(0))) * scale

    return left * singular * scale, rotated_back


def _scale(variance: float) -> float:
    return float(np.sqrt(_VARIANCE / variance)) if variance > _NOTHING else 1.0


def most_labels(features: int) -> int:
    """Return how many labels a linear member is fitted to, at most, so that its cost is bounded.

    >>> most_labels(10), most_labels(2000)
    (5000, 2097)
    """
    fewest = int(_MOST_NUMBERS**0.5)
    return max(fewest, min(5000, _MOST_NUMBERS // max(1, features)))
