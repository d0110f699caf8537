"""DCI: disentanglement, completeness and informativeness from the importances of trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Columns, Discrete, Prepared, prepare
from unknot.metrics.parts.information import information
from unknot.metrics.parts.predictors import Forest, fit_boosting, one_hot, split
from unknot.metrics.parts.result import Result, named
from unknot.metrics.protocols import Trees

# ---- DCI's disentanglement and completeness of any matrix of importances ---------------------------------


@dataclass(frozen=True)
class Entropic:
    """Both scores, and what each code and each factor adds to them."""

    disentanglement: float
    completeness: float
    by_code: np.ndarray
    by_factor: np.ndarray


def entropic(importance: np.ndarray) -> Entropic:
    """``D = Σ_j ρ_j (1 - H_K(P_j))`` over codes, ``C = Σ_k ρ_k (1 - H_D(P_k))`` over factors (Eastwood & Williams).

    ``importance`` is ``(D, K)`` and not negative. P_j is row j, P_k column k, each divided by its sum; ρ is the share
    of that sum in the whole; H_n is the entropy to the base n. Nothing important: both are 0.

    >>> entropic(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])).disentanglement
    1.0
    """
    rows, columns = concentration(importance), concentration(importance.T)
    total = max(float(importance.sum()), np.finfo(float).tiny)
    disentanglement = float(rows @ importance.sum(1) / total)
    completeness = float(columns @ importance.sum(0) / total)
    return Entropic(disentanglement, completeness, rows, columns)


def concentration(importance: np.ndarray) -> np.ndarray:
    """``1 - H_n(P)`` of each row: 1 if all lies in one place, 0 if spread evenly or if there is nothing."""
    total = importance.sum(1, keepdims=True)
    places = importance.shape[1]
    if places == 1:
        return (total[:, 0] > 0).astype(float)
    shares = importance / np.where(total > 0, total, 1.0)
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.where(total[:, 0] > 0, 1 + (shares * logs).sum(1) / np.log(places), 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Dci(Result):
    """``matrix`` ``(codes, factors)``: importance of each code for each factor; columns add up to 1.

    ``by_code`` is the disentanglement of each code, ``by_factor`` the informativeness of each factor.
    """

    disentanglement: float
    completeness: float
    informativeness: float
    by_code: Mapping[str, float]
    by_factor: Mapping[str, float]
    matrix: np.ndarray


def dci(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Dci:
    """Eastwood & Williams 2018: D and C of ``entropic``, from one ensemble of trees a factor.

    Informativeness is the accuracy, or R² of a continuous factor, on rows that were not trained on: 1 is best (the
    paper prints an error). A discrete code's importance is that of all its indicators. Trees do not see the scale of
    a column, so nothing is standardized.
    """
    given = prepare("dci", codes, factors, discrete, discrete_factors, seed, protocol)
    if given.settings.model == "forest":
        return dci_from(given, fit_forests(given.codes, given.factors, given.settings, seed))
    return _dci(given, *_boosted(given.codes, given.factors, given.settings, seed))


def dci_from(given: Prepared, forests: list[FittedForest]) -> Dci:
    """DCI from forests that are grown already."""
    return _dci(given, *read_forests(forests, given.settings, len(given.codes.names)))


def _dci(given: Prepared, importance: np.ndarray, scores: np.ndarray) -> Dci:
    found = entropic(importance)
    return Dci(
        disentanglement=found.disentanglement,
        completeness=found.completeness,
        informativeness=float(scores.mean()),
        by_code=named(given.codes.names, found.by_code),
        by_factor=named(given.factors.names, scores),
        matrix=importance,
        **given.said,
    )


@dataclass(frozen=True)
class FittedForest:
    """A forest for one factor, and the rows to choose its depth on and to test it on."""

    forest: Forest
    owner: np.ndarray  # the code of each column
    choose: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def fit_forests(codes: Columns, factors: Columns, settings: Trees, seed: int | None) -> list[FittedForest]:
    """A forest for every factor, grown to the largest depth."""
    train, choose, test = split(len(codes), settings.shares, seed)
    if min(len(train), len(choose), len(test)) == 0:
        raise DataError(f"{len(codes)} rows are too few to train, choose and test trees: bring at least 20.")
    x, owner = one_hot(codes)
    fitted = []
    for y, size in zip(factors.values.T, factors.sizes, strict=True):
        forest = Forest(x[train], y[train], size > 0, settings.trees, max(settings.depths), seed)
        fitted.append(FittedForest(forest, owner, (x[choose], y[choose]), (x[test], y[test])))
    return fitted


def read_forests(fitted: list[FittedForest], settings: Trees, codes: int) -> tuple[np.ndarray, np.ndarray]:
    """Importances ``(D, K)`` and test scores ``(K,)``, each factor's at the depth that does best elsewhere."""
    columns, scores = [], []
    for one in fitted:
        depth = settings.depths[int(one.forest.scores(*one.choose, settings.depths).argmax())]
        columns.append(np.bincount(one.owner, one.forest.importances(depth), minlength=codes))
        scores.append(one.forest.scores(*one.test, [depth])[0])
    return np.stack(columns, 1), np.array(scores)


def _boosted(
    codes: Columns, factors: Columns, settings: Trees, seed: int | None
) -> tuple[np.ndarray, np.ndarray]:
    train, _, test = split(len(codes), settings.shares, seed)
    x, owner = one_hot(codes)
    columns, scores = [], []
    histogram = settings.model == "histogram boosting"
    for y, size in zip(factors.values.T, factors.sizes, strict=True):
        model, found = fit_boosting(
            x[train], y[train], size > 0, settings.trees, settings.depths[0], histogram, seed
        )
        columns.append(np.bincount(owner, found, minlength=len(codes.names)))
        scores.append(model.score(x[test], y[test]))
    return np.stack(columns, 1), np.array(scores)


# ---- MED: DCI with mutual information in place of trees --------------------------------------------------


@dataclass(frozen=True, kw_only=True, repr=False)
class Med(Result):
    """``matrix`` ``(codes, factors)``: the share of each code in the information about a factor."""

    disentanglement: float
    completeness: float
    by_code: Mapping[str, float]
    by_factor: Mapping[str, float]
    matrix: np.ndarray


def med(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Med:
    """Cao et al. 2022: DCI's D and C of the importances ``I(v_k; z_j) / Σ_j' I(v_k; z_j')``."""
    given = prepare("med", codes, factors, discrete, discrete_factors, seed, protocol)
    mutual = information(given.codes, given.factors, given.settings).mutual
    importance = mutual / np.maximum(mutual.sum(0), np.finfo(float).tiny)
    found = entropic(importance)
    return Med(
        disentanglement=found.disentanglement,
        completeness=found.completeness,
        by_code=named(given.codes.names, found.by_code),
        by_factor=named(given.factors.names, found.by_factor),
        matrix=importance,
        **given.said,
    )
