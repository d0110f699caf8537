"""UDR: of several restarts, the one whose codes the others found too. Needs no labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Columns, Discrete
from unknot.metrics.parts.design import one_hot, standardize
from unknot.metrics.parts.live import live_codes
from unknot.metrics.parts.restarts import RestartScores, read_restarts
from unknot.metrics.protocols import Restarts, protocol_name, settings


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
