"""InfoMEC: modularity, explicitness and compactness in the units of information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Columns, Discrete, prepare
from unknot.metrics.parts.information import categories, counts, entropy, neighbor_information, shared
from unknot.metrics.parts.predictors import fit_logistic, one_hot, standardize, whole_or_split
from unknot.metrics.parts.result import Result, named
from unknot.metrics.protocols import InfoMec as Settings


@dataclass(frozen=True, kw_only=True, repr=False)
class InfoMec(Result):
    """``matrix`` ``(codes, factors)``: I(v; z) / H(v), also of codes that are not active."""

    modularity: float
    compactness: float
    explicitness: float
    by_factor: Mapping[str, float]  # explicitness
    matrix: np.ndarray
    active: np.ndarray


def infomec(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> InfoMec:
    """Hsu et al. 2023, from ``NMI_jk = I(v_k; z_j) / H(v_k)`` over the active codes.

    ``InfoM = (mean_j max_k NMI_jk / Σ_k NMI_jk - 1/K) / (1 - 1/K)``; InfoC the same over factors, with the number of
    active codes for K; ``InfoE = mean_k (H_0 - H_k) / H_0``, H_k the cross-entropy of a logistic regression of v_k on
    all codes and H_0 that of knowing nothing. In hsu2023 both are in-sample and balanced, and H_0 is log K, which
    flatters a factor of uneven values; hsu2023-held-out takes H(v_k) and other rows.
    Information of a continuous code is by nearest neighbors, of a discrete one by counts.
    """
    given = prepare("infomec", codes, factors, discrete, discrete_factors, seed, protocol)
    classes, values = categories(given.factors, given.settings.bins)
    shares = _shares(given.codes, classes, values, given.settings.neighbors, seed)
    active = _active(given.codes, given.settings.active_range)
    explicit = _explicitness(given.codes, classes, given.settings, seed)
    return InfoMec(
        modularity=_lead(shares[active]),
        compactness=_lead(shares[active].T),
        explicitness=float(explicit.mean()),
        by_factor=named(given.factors.names, explicit),
        matrix=shares,
        active=active,
        **given.said,
    )


def _shares(
    codes: Columns, classes: np.ndarray, values: np.ndarray, neighbors: int, seed: int | None
) -> np.ndarray:
    """``NMI`` ``(D, K)``."""
    shares = np.zeros((len(codes.names), len(values)))
    scaled, _ = standardize(codes.values, codes.values)
    for k, size in enumerate(values):
        whole = entropy(np.bincount(classes[:, k]))
        for d, categories_of in enumerate(codes.sizes):
            if categories_of:
                table = counts(codes.values[:, d].astype(int), categories_of, classes[:, k], size)
                found = shared(table)
            elif (scaled[:, d] == 0).all():
                found = 0.0
            else:
                found = neighbor_information(scaled[:, d], classes[:, k], neighbors, seed)
            shares[d, k] = found / whole
    return shares


def _active(codes: Columns, share: float) -> np.ndarray:
    """Categories with two values, and numbers whose range is above a share of the widest."""
    width = codes.values.max(0) - codes.values.min(0)
    numbers = width[~codes.discrete]
    return np.where(codes.discrete, width > 0, width > share * numbers.max(initial=0.0))


def _lead(shares: np.ndarray) -> float:
    """``(mean of max / Σ - 1/n) / (1 - 1/n)`` over rows of n; a row of nothing counts as spread evenly."""
    if shares.size == 0:
        return 0.0
    places = shares.shape[1]
    total = shares.sum(1)
    lead = np.where(total > 0, shares.max(1) / np.where(total > 0, total, 1.0), 1 / places)
    if places == 1:
        return float((total > 0).mean())
    return float((lead.mean() - 1 / places) / (1 - 1 / places))


def _explicitness(codes: Columns, classes: np.ndarray, settings: Settings, seed: int | None) -> np.ndarray:
    train, test = whole_or_split(len(codes), settings.train_share, seed)
    x, owner = one_hot(codes)
    scaled, scaled_test = standardize(x[train], x[test])
    indicator = codes.discrete[owner]
    x_train = np.where(indicator, x[train], scaled)
    x_test = np.where(indicator, x[test], scaled_test)
    balanced = settings.null == "uniform"
    found = []
    for y in classes.T:
        model = fit_logistic(
            x_train, y[train], balanced=balanced, tolerance=settings.tolerance, iterations=settings.iterations
        )
        null = np.log(len(np.unique(y))) if balanced else entropy(np.bincount(y[test]))
        loss = _cross_entropy(model.predict_proba(x_test), y[test], model.classes_)
        found.append((null - loss) / null if null > 0 else 0.0)
    return np.array(found)


def _cross_entropy(probability: np.ndarray, y: np.ndarray, values: np.ndarray) -> float:
    """Mean ``-log p(y)``; a value that was never trained on has the smallest probability there is."""
    place = np.minimum(np.searchsorted(values, y), len(values) - 1)
    right = np.where(values[place] == y, probability[np.arange(len(y)), place], 0.0)
    return float(-np.log(np.maximum(right, np.finfo(float).eps)).mean())
