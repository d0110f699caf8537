"""ModelCentrality: the restart that agrees best with all others. Needs no labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unknot.metrics.factor_vae import vote
from unknot.metrics.parts.columns import Arrays, Columns, Discrete
from unknot.metrics.parts.live import live_codes
from unknot.metrics.parts.restarts import RestartScores, read_restarts
from unknot.metrics.protocols import Votes, protocol_name, settings


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
