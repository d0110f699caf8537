"""DCI: disentanglement, completeness and informativeness from the importances of trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.boosting import fit_boosting
from unknot.metrics.parts.columns import Arrays, Columns, Discrete
from unknot.metrics.parts.design import one_hot, split
from unknot.metrics.parts.entropic import entropic
from unknot.metrics.parts.forests import Forest
from unknot.metrics.parts.prepare import Prepared, prepare
from unknot.metrics.parts.result import Result, named
from unknot.metrics.protocols import Trees


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
