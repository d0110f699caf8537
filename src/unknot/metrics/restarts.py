"""UDR: of several restarts, the one whose codes the others found too. Needs no labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Columns, Discrete, live_codes, read_columns
from unknot.metrics.parts.predictors import one_hot, standardize
from unknot.metrics.parts.result import Result
from unknot.metrics.protocols import Restarts, Votes, protocol_name, settings
from unknot.metrics.votes import vote

# What the scores over restarts share: checks of many sets of codes of the same items, and their result.


@dataclass(frozen=True, kw_only=True, repr=False)
class RestartScores(Result):
    """A score for each restart; ``best`` is the one to take and ``value`` its score; ``pairs`` is ``(R, R)``."""

    value: float
    scores: np.ndarray
    best: int
    pairs: np.ndarray

    def __repr__(self) -> str:
        said = ", ".join(f"{score:.3f}" for score in self.scores)
        return f"{self.score}: restart {self.best} of [{said}] ({self.protocol})"


def read_restarts(
    restarts: Sequence[Arrays], discrete: Discrete, points: int | None, seed: int | None
) -> list[Columns]:
    """Codes of every restart, of the same items, at most ``points`` of them."""
    read = [read_columns(codes, discrete, "codes") for codes in restarts]
    if len(read) < 2:
        raise DataError(
            f"Restarts are compared with one another, and there is {len(read)}: bring two or more."
        )
    lengths = sorted({len(codes) for codes in read})
    if len(lengths) > 1:
        raise DataError(
            f"The restarts have {', '.join(map(str, lengths))} rows: they must encode the same items, in one order."
        )
    if points is None or lengths[0] <= points:
        return read
    rows = np.random.default_rng(seed).permutation(lengths[0])[:points]
    return [codes.rows(rows) for codes in read]


def udr(
    restarts: Sequence[Arrays],
    discrete: Discrete = None,
    *,
    divergences: Sequence[Arrays] | None = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> RestartScores:
    """Duan et al. 2020: ``pair = (mean_b max_a R_ab² / Σ_a R_ab + mean_a max_b R_ab² / Σ_b R_ab) / 2``.

    ``R`` holds the absolute weights of a Lasso from one restart's standardized codes to another's; a restart's score is
    the median over the others' Lassos to it. Only live codes count: those whose mean divergence from the prior is
    above .01, where ``divergences`` gives them for each restart ``(D,)``, else those that vary. A discrete code enters
    by its indicators, so names of categories do not matter. All restarts must encode the same items.
    """
    chosen: Restarts = settings("udr", protocol)
    read = read_restarts(restarts, discrete, chosen.points, seed)
    live = [_live_columns(codes, i, divergences, chosen) for i, codes in enumerate(read)]
    count = len(read)
    pairs = np.zeros((count, count))
    for a in range(count):
        for b in range(count):
            if a != b and live[a].size and live[b].size:
                pairs[a, b] = _relative_strength(_lasso(live[a], live[b], chosen.penalty))
    others = ~np.eye(count, dtype=bool)
    scores = np.array([np.median(pairs[others[:, b], b]) for b in range(count)])
    best = int(scores.argmax())
    said = {"score": "udr", "protocol": protocol_name("udr", protocol)}
    return RestartScores(value=float(scores[best]), scores=scores, best=best, pairs=pairs, **said)


def _live_columns(
    codes: Columns, restart: int, divergences: Sequence[Arrays] | None, chosen: Restarts
) -> np.ndarray:
    """Standardized columns ``(N, P)`` of the codes that are alive."""
    live = live_codes(codes, chosen.dead_below)
    if divergences is not None:
        given = np.asarray(divergences[restart], dtype=float)
        if given.shape != (len(codes.names),):
            raise DataError(
                f"The divergences of restart {restart} have shape {given.shape} for {len(codes.names)} codes: "
                "one number a code."
            )
        live = given > chosen.min_divergence
    if not live.any():
        return np.zeros((len(codes), 0))
    x, _ = one_hot(codes.only(live))
    return standardize(x, x)[0]


def _lasso(source: np.ndarray, target: np.ndarray, penalty: float) -> np.ndarray:
    """Absolute weights ``(source, target)``."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights = Lasso(alpha=penalty).fit(source, target).coef_
    return np.abs(np.atleast_2d(weights)).T


def _relative_strength(weights: np.ndarray) -> float:
    def share(by: np.ndarray) -> float:
        total = by.sum(0)
        return float(np.mean(np.where(total > 0, by.max(0) ** 2 / np.where(total > 0, total, 1.0), 0.0)))

    return (share(weights) + share(weights.T)) / 2


# ---- ModelCentrality: the restart that agrees best with all others. Needs no labels ----------------------


def model_centrality(
    restarts: Sequence[Arrays], discrete: Discrete = None, *, seed: int | None = 0, protocol: Any = None
) -> RestartScores:
    """Lin et al. 2020: ``s_i = mean_{j≠i} (A_ij + A_ji) / 2``, and the medoid is the restart with the largest.

    ``A_ij`` is the FactorVAE score of restart j's codes with restart i's live codes for factors. Lin et al. generate
    items with one code fixed; arrays hold a code fixed by items whose code falls into one bin. All restarts must
    encode the same items. A restart without a live code scores 0.
    """
    chosen: Votes = settings("model_centrality", protocol)
    read = read_restarts(restarts, discrete, chosen.points, seed)
    count = len(read)
    crossed = np.zeros((count, count))
    for i, factors in enumerate([_as_factors(codes, chosen) for codes in read]):
        for j, codes in enumerate(read):
            if i != j and factors.names:
                crossed[i, j] = vote(codes, factors, chosen, seed)[0]
    pairs = (crossed + crossed.T) / 2
    scores = pairs.sum(1) / (count - 1)
    best = int(scores.argmax())
    said = {"score": "model_centrality", "protocol": protocol_name("model_centrality", protocol)}
    return RestartScores(value=float(scores[best]), scores=scores, best=best, pairs=pairs, **said)


def _as_factors(codes: Columns, chosen: Votes) -> Columns:
    live = live_codes(codes, chosen.dead_below) & (codes.values.min(0) < codes.values.max(0))
    return replace(codes.only(live), what="factors")
