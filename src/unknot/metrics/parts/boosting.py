"""Gradient boosting with the importance of each column."""

from __future__ import annotations

from typing import Any

import numpy as np


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
